#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking {

/// One problem of an env: a plan that serves what was promised so far, and one request more.
struct RoutingProblem {
  static constexpr std::int32_t kNoRequest = -1;
  const Instance* instance = nullptr;    // windows as promised
  std::span<const std::int32_t> served;  // the requests that the plan serves
  std::int32_t request = 0;              // the one to be added; kNoRequest: plan the others anew
  std::uint64_t seed = 0;                // of the search: results are a function of the problem
  Plan* plan = nullptr;                  // in: the plan so far; out: the new one
  Cost cost = 0;                         // out: of the new plan
  bool fits = false;                     // out: else the plan is as it was
};

/// Plans for a batch of problems in one call. Deterministic for any number of threads and any way
/// of cutting the batch.
/// One thread at a time: whoever plans in parallel makes one per thread.
class RoutingOracle {
 public:
  virtual ~RoutingOracle() = default;
  virtual void solve(std::span<RoutingProblem> batch) = 0;
};

/// "insertion", "relocate" or "rr-N": insertion, then moves of single requests, then N rounds of
/// ruin and recreate, each from the plan so far. Throws UsageError that names these.
std::unique_ptr<RoutingOracle> make_search_oracle(std::string_view name);

}  // namespace penstock::booking
