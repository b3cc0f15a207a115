#pragma once
#include <optional>
#include <span>
#include <string>

#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking {

/// What is wrong with a plan, in words; none when it serves exactly these requests, each once,
/// inside every window, load, ride time and working day. Shares no code with the solvers.
/// Any plan may be given, also one with nodes that do not exist.
std::optional<std::string> find_violation(const Instance& instance, const Plan& plan,
                                          std::span<const std::int32_t> requests);

/// The plan's cost, added up from the matrix.
Cost cost_of(const Instance& instance, const Plan& plan);

}  // namespace penstock::booking
