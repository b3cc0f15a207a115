#include "penstock/domains/booking/env/booking.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "penstock/domains/booking/routing/checker.h"

namespace penstock::booking {
namespace {

/// 10^5 steps, or what PENSTOCK_TEST_STEPS says; the long form is 10^6.
std::int64_t num_steps() {
  const char* given = std::getenv("PENSTOCK_TEST_STEPS");
  return given != nullptr ? std::stoll(given) : 100'000;
}

struct Case {
  Mode mode;
  OfferKind offer;
  std::int32_t vehicles;
  double walk_away;
  Seconds max_ride;
  const char* oracle = "insertion";
};

const Case kCases[] = {
    {Mode::ride, OfferKind::shift, 5, 0, 0},    {Mode::ride, OfferKind::widen, 3, 0.3, 0},
    {Mode::ride, OfferKind::widen, 3, 0, 1800}, {Mode::deliver, OfferKind::widen, 2, 0, 0},
    {Mode::deliver, OfferKind::shift, 5, 1, 0}, {Mode::ride, OfferKind::widen, 4, 0, 0, "rr-3"}};

/// Plays a day with offers at random; calls after(booking) at the end of each step.
template <class After>
Cost play(Booking& booking, RoutingOracle& oracle, const BookingRules& rules, Random& random,
          const After& after) {
  Cost sum = 0;
  while (!booking.over()) {
    const auto action = static_cast<std::int32_t>(random.below(kNumOffers));
    const auto type = static_cast<Flexibility>(booking.customer() % kNumTypes);
    const Booking::Answer answer = booking.offer(action, type, rules);
    RoutingProblem problem = booking.problem();
    if (answer.stays) { oracle.solve({&problem, 1}); }
    sum += booking.finish(answer.stays ? &problem : nullptr, rules);
    after(booking);
  }
  return sum;
}

std::unique_ptr<Generator> generator(const Case& of) {
  return make_generator(
      of.mode == Mode::ride ? "city" : "delivery",
      {.mode = of.mode, .vehicles = of.vehicles, .max_ride = of.max_ride, .file = {}});
}

}  // namespace

TEST_CASE("every plan of every step keeps all promises, and rewards add up to the metre") {
  std::vector<std::unique_ptr<RoutingOracle>> oracles;
  for (const Case& of : kCases) { oracles.push_back(make_search_oracle(of.oracle)); }
  Random random(1);
  std::int64_t steps = 0;
  std::int32_t unserved = 0;
  for (std::uint64_t day = 0; steps < num_steps(); ++day) {
    const Case& of = kCases[day % std::size(kCases)];
    const BookingRules rules{.offer = of.offer,
                             .answers = AnswerModel("noisy", 0.1),
                             .per_minute = 20,
                             .rejection = 700,
                             .walk_away = of.walk_away,
                             .lost = 60'000};
    Booking booking;
    booking.begin(*generator(of), day);
    RoutingOracle& oracle = *oracles[day % std::size(kCases)];
    const Cost sum = play(booking, oracle, rules, random, [&](const Booking& now) {
      const auto violation = find_violation(now.instance(), now.plan(), now.served());
      REQUIRE_MESSAGE(!violation, violation.value_or(""));
      REQUIRE(now.cost() == cost_of(now.instance(), now.plan()));
      ++steps;
    });
    const DayTally& tally = booking.tally();
    CHECK(sum == -booking.cost() - 20 * Cost{tally.minutes} -
                     700 * Cost{tally.asked - tally.taken} - 50'000 * Cost{tally.unserved} -
                     60'000 * Cost{tally.left});
    CHECK(tally.requests == 30);
    CHECK(booking.served().size() == static_cast<std::size_t>(30 - tally.unserved - tally.left));
    unserved += tally.unserved;
  }
  CHECK(unserved > 0);  // or the penalty was never tried
}

TEST_CASE("every customer calls once a day, in an order of the day") {
  const auto city = make_generator("city", {});
  std::vector<std::vector<std::size_t>> orders;
  const auto oracle = make_search_oracle("insertion");
  Random random(2);
  for (std::uint64_t day = 0; day < 3; ++day) {
    Booking booking;
    booking.begin(*city, day);
    std::vector<std::size_t> order = {booking.customer()};
    play(booking, *oracle, {}, random, [&](const Booking& now) {
      if (!now.over()) { order.push_back(now.customer()); }
    });
    orders.push_back(order);
    std::ranges::sort(order);
    for (std::size_t c = 0; c < 30; ++c) { CHECK(order[c] == c); }
  }
  CHECK(orders[0] != orders[1]);
  CHECK(orders[1] != orders[2]);
}

TEST_CASE("a refused offer leaves the window as wished, one that is taken is promised") {
  const auto city = make_generator("city", {});
  const BookingRules rules{.offer = OfferKind::widen, .answers = AnswerModel()};
  for (const Flexibility type : {Flexibility::rigid, Flexibility::both}) {
    Booking booking;
    booking.begin(*city, 3);
    const RequestWindows wished = windows_of(booking.instance(), 0);
    constexpr std::int32_t kMost = 3;  // 30 minutes both ways
    CHECK(booking.offer(kMost, type, rules).taken == (type == Flexibility::both));
    const RequestWindows promised = windows_of(booking.instance(), 0);
    if (type == Flexibility::rigid) {
      CHECK(promised == wished);
    } else {
      CHECK(promised[0].earliest == wished[0].earliest - 1800);
      CHECK(promised[1].latest == wished[1].latest + 1800);
    }
  }
}

TEST_CASE("a saved day is refused under another config, not bent") {
  const auto city = make_generator("city", {});
  const auto oracle = make_search_oracle("insertion");
  Random random(4);
  Booking booking;
  booking.begin(*city, 5);
  play(booking, *oracle, {}, random, [](const Booking&) {});
  std::vector<std::byte> bytes;
  StateWriter writer(bytes);
  booking.state(writer);
  const auto load = [&](const Generator& generator, OfferKind kind) {
    Booking copy;
    StateReader reader(bytes);
    copy.state(reader);
    copy.restore(generator, kind);
    return copy.cost();
  };
  CHECK(load(*city, OfferKind::widen) == booking.cost());
  CHECK_THROWS_AS(load(*make_generator("city", {.requests = 20, .file = {}}), OfferKind::widen),
                  DataError);
  CHECK_THROWS_AS(load(*make_generator("clustered", {}), OfferKind::widen), DataError);
}

}  // namespace penstock::booking
