#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "penstock/core/act/actor.h"
#include "penstock/domains/booking/selling/plan_view.h"

namespace penstock::booking::selling {

/// What a network makes of a slot.
struct SlotAdvice {
  bool show = false;
  double opportunity = 0;  // what a sale is taken to cost, in units; 0 where it is not shown
  double fee = 0;          // to ask for it; below 0 an incentive
};

/// A network of the env `slots` that sells slots of real plans. Thread-safe; threads take turns.
class Seller {
 public:
  /// A policy file, or a folder with one, `policy.safetensors`. Throws IoError, DataError, or
  /// UsageError for a policy of another env.
  explicit Seller(const std::string& path);

  [[nodiscard]] const std::string& name() const { return name_; }
  /// [state.num_slots]
  std::vector<SlotAdvice> offer(const SlotState& state);

 private:
  std::string name_;
  std::unique_ptr<Actor> actor_;
  std::mutex mutex_;
};

}  // namespace penstock::booking::selling
