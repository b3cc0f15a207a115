#include "penstock/envs/python/restart_budget.h"

#include <fmt/format.h>

#include <utility>

namespace penstock {

void RestartBudget::add(double now_s, std::string cause) {
  const bool ends = window_s_ > 0;
  while (ends && !failures_.empty() && failures_.front().at_s <= now_s - window_s_) {
    failures_.pop_front();
  }
  failures_.push_back({now_s, std::move(cause)});
}

std::string RestartBudget::text() const {
  const std::string window =
      window_s_ > 0 ? fmt::format(" within env.restart_window_s = {}", window_s_) : "";
  return fmt::format("envs failed {} times, more than env.max_restarts = {}{}; the first: {}",
                     count(), most_, window, failures_.front().cause);
}

}  // namespace penstock
