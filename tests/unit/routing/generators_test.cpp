#include "penstock/routing/generators.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <map>

#include "penstock/base/errors.h"

namespace penstock::routing {
namespace {

Instance made(std::string_view name, std::uint64_t seed, const GeneratorConfig& config = {}) {
  Instance instance;
  make_generator(name, config)->make(seed, instance);
  return instance;
}

TEST_CASE("a city's day is 61 places, five vehicles and windows of half an hour") {
  const Instance city = made("city", 1);
  CHECK(city.num_nodes() == 61);
  CHECK(city.num_requests() == 30);
  CHECK(city.vehicles == 5);
  CHECK(city.capacity == 4);
  CHECK(city.points[0].x == 3750);
  CHECK(city.nodes[0].window == Window{0, 86400});
  for (std::int32_t i = 0; i < 30; ++i) {
    const std::int32_t first = city.first_node(i);
    const Node& up = city.nodes.at(first);
    const Node& down = city.nodes.at(first + 1);
    REQUIRE(up.window.earliest % 600 == 0);
    REQUIRE(up.window.latest - up.window.earliest == 1800);
    REQUIRE(down.window.earliest - up.window.earliest == city.duration_of(first, first + 1) + 60);
    REQUIRE(down.window.latest - down.window.earliest == 1800);
    REQUIRE(up.load + down.load == 0);
    REQUIRE(up.service == 60);
  }
}

TEST_CASE("distances are crow's flights times 1.3, durations those at 24 km/h") {
  for (const char* name : {"city", "delivery", "clustered"}) {
    const Instance day = made(name, 7);
    for (std::int32_t a = 0; a < 61; ++a) {
      for (std::int32_t b = 0; b < 61; ++b) {
        const Point from = day.points.at(a);
        const Point to = day.points.at(b);
        const double metres = 1.3 * std::hypot(from.x - to.x, from.y - to.y);
        // Half a unit of rounding and what a float of 24 bits loses.
        REQUIRE(std::abs(day.distance_of(a, b) - metres) <= 0.51);
        REQUIRE(std::abs(day.duration_of(a, b) - metres * 3.6 / 24) <= 0.51);
        REQUIRE(day.distance_of(a, b) == day.distance_of(b, a));
      }
    }
  }
}

TEST_CASE("the peaks of the day have their shares") {
  std::map<int, int> per_hour;
  const auto generator = make_generator("city", {});
  Instance day;
  constexpr int kDays = 400;
  double x = 0;
  for (std::uint64_t seed = 0; seed < kDays; ++seed) {
    generator->make(seed, day);
    for (std::int32_t i = 0; i < 30; ++i) {
      ++per_hour[day.nodes.at(day.first_node(i)).window.earliest / 1800];
    }
    for (std::size_t i = 1; i < day.points.size(); ++i) { x += day.points[i].x; }
  }
  const auto share = [&](int from, int to) {  // of half-hours
    int count = 0;
    for (int h = from; h < to; ++h) { count += per_hour[h]; }
    return count / (30.0 * kDays);
  };
  // A tenth lies anywhere in 7 to 20 h. Three standard deviations of 12,000 draws are 0.013.
  CHECK(share(13, 19) == doctest::Approx(0.35 + 0.1 * 2.5 / 13).epsilon(0.04));
  CHECK(share(22, 28) == doctest::Approx(0.25 + 0.1 * 3 / 13).epsilon(0.05));
  CHECK(share(31, 37) == doctest::Approx(0.30 + 0.1 * 3 / 13).epsilon(0.045));
  CHECK(share(13, 40) == 1);
  CHECK(x / (60.0 * kDays) == doctest::Approx(3750).epsilon(0.02));
}

TEST_CASE("a day is a function of its seed, whatever was in its memory") {
  Instance reused = made("delivery", 3, {.mode = Mode::deliver, .requests = 50});
  make_generator("city", {})->make(9, reused);
  const Instance fresh = made("city", 9);
  CHECK(reused.distance == fresh.distance);
  CHECK(reused.duration == fresh.duration);
  CHECK(reused.nodes.size() == fresh.nodes.size());
  CHECK(reused.capacity == 4);
  CHECK(made("city", 10).distance != fresh.distance);
}

TEST_CASE("deliveries are single stops with room for forty") {
  const Instance day = made("delivery", 5, {.mode = Mode::deliver});
  CHECK(day.num_nodes() == 31);
  CHECK(day.capacity == 40);
  CHECK(day.points[0].y == 8500);
  CHECK(day.nodes[30].load == 1);
  CHECK(make_generator("delivery", {})->side() == 17000);
  CHECK(made("city", 5, {.capacity = 6, .max_ride = 1800}).capacity == 6);
}

TEST_CASE("clusters draw places together") {
  const auto mean_distance = [](std::string_view name) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const Instance day = made(name, seed);
      for (std::int32_t i = 1; i < 61; ++i) {
        Metres nearest = day.distance_of(i, 0);
        for (std::int32_t k = 1; k < 61; ++k) {
          if (k != i) { nearest = std::min(nearest, day.distance_of(i, k)); }
        }
        sum += nearest;
      }
    }
    return sum;
  };
  CHECK(mean_distance("clustered") < 0.8 * mean_distance("city"));
}

TEST_CASE("a wrong name or number is named with the remedy") {
  CHECK_THROWS_WITH_AS(
      made("citi", 1),
      "no generator 'citi', did you mean 'city'?; one of: city, delivery, clustered, solomon, "
      "ortec, csv",
      UsageError);
  CHECK_THROWS_WITH_AS(made("city", 1, {.requests = 0}), "requests = 0: allowed are 1 to 10000",
                       UsageError);
}

}  // namespace
}  // namespace penstock::routing
