#pragma once
#include <CLI/CLI.hpp>

#include "penstock/train/domain.h"

namespace penstock::routing {

Verb offer_verb(CLI::App& app);

}  // namespace penstock::routing
