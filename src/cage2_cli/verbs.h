#pragma once
#include <CLI/CLI.hpp>

#include "penstock/train/domain.h"

namespace penstock::cage2 {

Verb play_verb(CLI::App& app);
Verb replay_verb(CLI::App& app);
Verb workflow_verb(CLI::App& app);
Verb search_verb(CLI::App& app);
Verb leaderboard_verb(CLI::App& app, const Catalog& catalog);

}  // namespace penstock::cage2
