#pragma once
#include <vector>

#include "penstock/train/domain.h"

namespace penstock {

/// `penstock dvrptw offer`, `eval`, `oracle train` and `oracle eval`.
std::vector<Verb> dvrptw_verbs(CLI::App& app, const Catalog& catalog);

}  // namespace penstock
