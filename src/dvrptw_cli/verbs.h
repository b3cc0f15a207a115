#pragma once
#include <CLI/CLI.hpp>
#include <vector>

#include "penstock/train/domain.h"

namespace penstock::routing {

Verb offer_verb(CLI::App& app);
Verb eval_verb(CLI::App& app, const Catalog& catalog);
Verb report_verb(CLI::App& app, const Catalog& catalog);
/// `oracle train` and `oracle eval`.
std::vector<Verb> oracle_verbs(CLI::App& app);

}  // namespace penstock::routing
