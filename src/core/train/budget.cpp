#include "core/train/budget.h"

#include <algorithm>
#include <cmath>

namespace penstock::detail {
namespace {

/// 0 where there is no such budget.
double part_of(double spent, double whole) {
  return whole > 0 ? std::clamp(spent / whole, 0.0, 1.0) : 0;
}

}  // namespace

bool Budget::used_up(const Spent& spent) const {
  return spent.timesteps >= config_.total_timesteps ||
         (config_.total_episodes > 0 && spent.episodes >= config_.total_episodes) ||
         (config_.total_seconds > 0 && spent.seconds >= config_.total_seconds);
}

double Budget::share(const Spent& spent) const {
  return std::max(part_of(spent.timesteps, config_.total_timesteps),
                  part_of(spent.episodes, config_.total_episodes));
}

double Budget::shown(const Spent& spent) const {
  return std::max(share(spent), part_of(spent.seconds, config_.total_seconds));
}

double Budget::seconds_left(const Spent& start, const Spent& now) const {
  const double pace = (share(now) - share(start)) / (now.seconds - start.seconds);
  const double by_pace = pace > 0 ? (1 - share(now)) / pace : std::nan("");
  if (config_.total_seconds == 0) { return by_pace; }
  return std::fmin(by_pace, std::max(0.0, config_.total_seconds - now.seconds));
}

}  // namespace penstock::detail
