#include "penstock/domains/booking/routing/checker.h"

#include <doctest/doctest.h>

#include <array>

namespace penstock::booking::checker_test {
namespace {

/// Two rides on a line: depot 0, pickups at 10 and 20, drop-offs at 30 and 40; a metre a second.
Instance line() {
  Instance line;
  line.vehicles = 2;
  line.capacity = 2;
  line.nodes = {
      {{0, 1000}, 0, 0}, {{0, 100}, 5, 1}, {{0, 200}, 5, -1}, {{0, 100}, 5, 1}, {{0, 200}, 5, -1}};
  const std::array<int, 5> place = {0, 10, 30, 20, 40};
  for (const int a : place) {
    for (const int b : place) {
      line.distance.push_back(std::abs(a - b));
      line.duration.push_back(std::abs(a - b));
    }
  }
  return line;
}

constexpr std::array<std::int32_t, 2> kBoth = {0, 1};

std::string complaint(const Instance& instance, const Plan& plan) {
  return find_violation(instance, plan, kBoth).value_or("none");
}

}  // namespace

TEST_CASE("a good plan has no violation, and its cost is the way there and back") {
  const Plan plan{{{1, 3, 2, 4}, {}}};
  CHECK(complaint(line(), plan) == "none");
  CHECK(cost_of(line(), plan) == 80);
  CHECK(cost_of(line(), {{{1, 2}, {3, 4}}}) == 140);
}

TEST_CASE("each kind of violation is found") {
  const auto has = [](const std::string& text, const char* part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  };
  Instance instance = line();
  has(complaint(instance, {{{1, 2}, {3, 4}, {}}}), "3 routes for 2 vehicles");
  has(complaint(instance, {{{1, 2, 3, 5}}}), "node 5, which");
  has(complaint(instance, {{{1, 2, 3}}}), "node 4 of request 1 is visited 0 times");
  has(complaint(instance, {{{1, 2, 3, 4}, {1}}}), "node 1 of request 0 is visited 2 times");
  const std::array<std::int32_t, 1> first = {0};
  has(find_violation(instance, {{{1, 2, 3, 4}}}, first).value_or(""), "node 3 is visited, but");
  has(complaint(instance, {{{1, 3, 4}, {2}}}), "picks up at node 1 and does not");
  has(complaint(instance, {{{2, 1, 3, 4}}}), "drops off at node 2 without");
  instance.capacity = 1;
  has(complaint(instance, {{{1, 3, 2, 4}}}), "carries 2 at node 3");
  instance = line();
  instance.nodes[3].window.latest = 24;
  has(complaint(instance, {{{1, 3, 2, 4}}}), "serves node 3 at 25, after 24");
  instance = line();
  instance.nodes[0].window.latest = 99;
  has(complaint(instance, {{{1, 3, 2, 4}}}), "is back at 100, after 99");
  instance.nodes[0].window = {80, 1000};
  instance.nodes[1].window.latest = 89;
  has(complaint(instance, {{{1, 3, 2, 4}}}), "serves node 1 at 90, after 89");
}

TEST_CASE("a ride is too long only when no schedule makes it short") {
  Instance instance = line();
  instance.max_ride = 25;  // from the end of service at 10 by the stop at 20 to 30: 10 + 5 + 10
  const Plan plan{{{1, 3, 2, 4}}};
  CHECK(complaint(instance, plan) == "none");
  instance.nodes[2].window.earliest = 90;  // put the pickup off and all is well
  CHECK(complaint(instance, plan) == "none");
  instance.nodes[1].window.latest = 59;  // 59 + 5 + 25 = 89: a second short
  CHECK(complaint(instance, plan).find("cannot keep every ride within 25 s") != std::string::npos);
  instance = line();
  instance.max_ride = 24;
  CHECK(complaint(instance, plan).find("cannot keep every ride within 24 s") != std::string::npos);
}

}  // namespace penstock::booking::checker_test
