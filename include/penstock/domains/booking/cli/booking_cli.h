#pragma once
#include <vector>

#include "penstock/core/train/domain.h"

namespace penstock {

/// `penstock booking offer`, `serve`, `eval`, `oracle train` and `oracle eval`.
std::vector<Verb> booking_verbs(Options& app, const Catalog& catalog);

}  // namespace penstock
