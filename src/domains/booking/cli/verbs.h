#pragma once
#include <vector>

#include "penstock/core/base/options.h"
#include "penstock/core/train/domain.h"

namespace penstock::booking {

Verb eval_verb(Options& app, const Catalog& catalog);
Verb report_verb(Options& app, const Catalog& catalog);
/// `oracle train` and `oracle eval`.
std::vector<Verb> oracle_verbs(Options& app);

}  // namespace penstock::booking
