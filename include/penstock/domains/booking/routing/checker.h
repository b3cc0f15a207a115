#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking {

/// What is wrong with a plan.
struct Violation {
  enum class Kind : std::uint8_t {
    routes,         // `value` of them for `limit` vehicles
    unknown_node,   // the instance does not have it
    visits,         // a node of a request to be served is visited `value` times
    not_asked_for,  // a node of another request is visited
    no_drop_off,    // by the vehicle that picks up, after that
    no_pickup,
    load,    // `value` on board from the node on, or in all; `limit` is the capacity
    window,  // service begins at `value`, after `limit`, seconds
    day,     // the vehicle is back at `value`, after `limit`, seconds
    ride,    // no schedule keeps every ride within `limit` seconds; the node is where it fails
  };
  Kind kind = Kind::routes;
  std::size_t vehicle = 0;
  std::int32_t node = 0;
  std::int64_t value = 0;
  std::int64_t limit = 0;
};

/// The first violation; none when the plan serves exactly these requests, each once, inside every
/// window, load, ride time and working day. Shares no code with the solvers.
/// Any plan may be given, also one with nodes that do not exist.
std::optional<Violation> check_plan(const Instance& instance, const Plan& plan,
                                    std::span<const std::int32_t> requests);
/// The same in words, with vehicles and nodes as numbers.
std::optional<std::string> find_violation(const Instance& instance, const Plan& plan,
                                          std::span<const std::int32_t> requests);

/// The plan's cost, added up from the matrix.
Cost cost_of(const Instance& instance, const Plan& plan);

}  // namespace penstock::booking
