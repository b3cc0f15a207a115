#pragma once
#include <functional>

#include "penstock/core/base/light_verb.h"

namespace penstock::booking::demand {

/// Adds the options of `penstock booking backtest` to its command.
std::function<Exit()> add_backtest_options(Options& verb);

/// As a verb that needs nothing of the others.
inline constexpr LightVerb kBacktestVerb{
    .name = "backtest",
    .doc = "what policies would have earned on a log of calls, and what customers like",
    .add_options = add_backtest_options};

}  // namespace penstock::booking::demand
