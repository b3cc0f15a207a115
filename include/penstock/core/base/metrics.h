#pragma once
#include <string>
#include <utility>
#include <vector>

namespace penstock {

/// A named number at one moment of a run, in Stable-Baselines3's spelling: "rollout/ep_rew_mean".
/// Not a number where there is none.
using Metric = std::pair<std::string, double>;
/// What is logged together.
using Metrics = std::vector<Metric>;

}  // namespace penstock
