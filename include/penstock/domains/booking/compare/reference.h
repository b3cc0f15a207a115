#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking {

/// A day as it was promised: what a reference solver plans again.
struct PromisedDay {
  Instance instance;                 // windows as promised
  std::vector<std::int32_t> served;  // the requests that are to be served
};

/// How PyVRP is run.
struct ReferenceOptions {
  std::string python = "python3";
  double seconds = 1;  // for each day
  std::uint64_t seed = 1;
};

/// Costs of plans that PyVRP finds, a day each; none where it found no feasible one. PyVRP has no
/// longest ride, so with max_ride its costs are bounds. Throws UsageError that names the remedy
/// when the interpreter or PyVRP is not there.
std::vector<std::optional<Cost>> solve_by_pyvrp(std::span<const PromisedDay> days,
                                                const ReferenceOptions& options);

}  // namespace penstock::booking
