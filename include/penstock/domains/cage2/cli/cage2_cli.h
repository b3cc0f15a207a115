#pragma once
#include <vector>

#include "penstock/core/train/domain.h"

namespace penstock {

/// `penstock cage2 play|replay|workflow|search|leaderboard`.
/// Adds the verbs to `app`; both must outlive them.
std::vector<Verb> cage2_verbs(Options& app, const Catalog& catalog);

}  // namespace penstock
