#include "penstock/domains/booking/routing/generators.h"

#include <fmt/format.h>

#include <array>

#include "domains/booking/routing/generator_parts.h"
#include "penstock/core/base/errors.h"

namespace penstock::booking {
namespace {

constexpr Seconds kDay = 86400;
constexpr std::int32_t kMostRequests = 10000;  // a ride's matrices are then 3.2 GB

void require(std::string_view key, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) { return; }
  throw UsageError(fmt::format("{} = {}: allowed are {} to {}", key, value, low, high));
}

void check(const GeneratorConfig& config) {
  require("requests", config.requests, 1, kMostRequests);
  require("vehicles", config.vehicles, 1, kMostRequests);
  require("capacity", config.capacity, 0, 1000000);
  require("window", config.window, 0, kDay);
  require("service", config.service, 0, kDay);
  require("max_ride", config.max_ride, 0, kDay);
}

}  // namespace

void begin_day(const GeneratorConfig& config, Instance& into) {
  into.mode = config.mode;
  into.vehicles = config.vehicles;
  into.capacity = config.capacity;
  if (into.capacity == 0) { into.capacity = config.mode == Mode::ride ? 4 : 40; }
  into.max_ride = config.mode == Mode::ride ? config.max_ride : 0;
  const auto nodes =
      1 + static_cast<std::size_t>(config.requests) * (config.mode == Mode::ride ? 2 : 1);
  into.nodes.resize(nodes);
  into.points.resize(nodes);
  into.nodes[0] = {.window = {.earliest = 0, .latest = kDay}, .service = 0, .load = 0};
}

void ask_at(const GeneratorConfig& config, std::int32_t request, Seconds earliest, Instance& into) {
  const std::int32_t first = into.first_node(request);
  const Window wished{.earliest = earliest, .latest = earliest + config.window};
  Node& node = into.nodes[first];
  node = {.window = wished, .service = config.service, .load = 1};
  if (config.mode == Mode::deliver) { return; }
  const Seconds direct = into.duration_of(first, first + 1) + config.service;
  into.nodes[first + 1] = {
      .window = {.earliest = wished.earliest + direct, .latest = wished.latest + direct},
      .service = config.service,
      .load = -1};
}

std::unique_ptr<Generator> make_generator(std::string_view name, const GeneratorConfig& config) {
  check(config);
  if (auto city = make_city(name, config)) { return city; }
  if (auto file = make_from_file(name, config)) { return file; }
  const std::array<std::string, 6> known = {"city",    "delivery", "clustered",
                                            "solomon", "ortec",    "csv"};
  throw UsageError(fmt::format("unknown generator '{}'{}; it is one of {}", name,
                               did_you_mean(name, known), fmt::join(known, ", ")));
}

}  // namespace penstock::booking
