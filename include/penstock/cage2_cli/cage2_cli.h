#pragma once
#include <vector>

#include "penstock/train/domain.h"

namespace penstock {

/// `penstock cage2 play|replay|workflow|search|leaderboard`.
std::vector<Verb> cage2_verbs(CLI::App& app, const Catalog& catalog);

}  // namespace penstock
