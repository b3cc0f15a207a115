#include "penstock/domains/booking/env/obs_writer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace penstock::booking {
namespace {

/// The same day whatever the seed.
class FixedDay final : public Generator {
 public:
  explicit FixedDay(Instance day) : day_(std::move(day)) {}
  void make(std::uint64_t /*seed*/, Instance& into) const override { into = day_; }
  [[nodiscard]] double side() const override { return 1000; }

 private:
  Instance day_;
};

/// Rides or deliveries along the lower edge of a square kilometre, a metre a second, from second 0
/// to 10,000. Services take 10 s.
Instance edge_day(Mode mode) {
  Instance day;
  day.mode = mode;
  day.vehicles = 2;
  day.capacity = 4;
  day.nodes.push_back({{0, 10'000}, 0, 0});
  const std::vector<double> places = {0, 100, 300, 100, 250, 900, 950};
  const std::size_t nodes = mode == Mode::ride ? 7 : 4;
  for (std::size_t i = 1; i < nodes; ++i) {
    const bool drop = mode == Mode::ride && i % 2 == 0;
    const Seconds begin = drop ? 400 : 200;
    day.nodes.push_back({{begin, drop ? 900 : 500}, 10, drop ? -1 : 1});
  }
  for (std::size_t i = 0; i < nodes; ++i) {
    day.points.push_back({places[i], 0});
    for (std::size_t k = 0; k < nodes; ++k) {
      const auto way = static_cast<std::int32_t>(std::abs(places[i] - places[k]));
      day.distance.push_back(way);
      day.duration.push_back(way);
    }
  }
  return day;
}

constexpr Belief kSomeBelief = {0.5, 0.25, 0.125, 0.125};

/// A booking of such a day, and what is written of it.
struct Scene {
  FixedDay generator;
  BookingRules rules;
  ObsWriter writer;
  Booking booking;
  ObsCache cache;
  Quoter quoter;
  std::unique_ptr<RoutingOracle> oracle = make_search_oracle("insertion");

  Scene(const Instance& day, ObsKind kind, bool belief = false)
      : generator(day),
        writer({.kind = kind, .belief = belief, .num_customers = 3, .side = 1000}, rules) {
    booking.begin(generator, 1);
    cache.begin(booking, 1000);
  }
  void book(std::int32_t action, Flexibility type) {
    const Booking::Answer answer = booking.offer(action, type, rules);
    RoutingProblem problem = booking.problem();
    if (answer.stays) { oracle->solve({&problem, 1}); }
    booking.finish(answer.stays ? &problem : nullptr, rules);
    cache.follow(booking);
  }
  [[nodiscard]] std::vector<float> row() {
    std::vector<float> out(writer.layout().size(), -77);
    writer.write(booking, cache, kSomeBelief, quoter, out);
    return out;
  }
};

using Floats = std::vector<float>;

Floats token_of(const Floats& row, std::size_t k) {
  const auto begin = row.begin() + static_cast<std::ptrdiff_t>(k * ObsWriter::kTokenWidth);
  return {begin, begin + ObsWriter::kTokenWidth};
}

void check_near(const Floats& found, const Floats& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-5));
  }
}

}  // namespace

TEST_CASE("a list tells zones and shares of the day") {
  Scene scene(edge_day(Mode::ride), ObsKind::list);
  scene.book(kNoChange, Flexibility::rigid);
  // Fourteen cells in the lowest row: 100 m lie in the second, 300 m in the fifth, 250 m in the
  // fourth. The day has 10,000 s.
  check_near(scene.row(), {1, 0.02F, 0.05F, 4, 0.04F, 0.09F,  // promised
                           -1, 0, 0, -1, 0, 0,                // nobody yet
                           1, 0.02F, 0.05F, 3, 0.04F, 0.09F});
}

TEST_CASE("a promise is told with its windows as promised") {
  Scene scene(edge_day(Mode::ride), ObsKind::list, true);
  scene.rules.offer = OfferKind::widen;
  scene.book(15, Flexibility::later);  // 30 minutes later
  const Floats row = scene.row();
  CHECK(row[2] == doctest::Approx(0.05 + 0.18));
  CHECK(row[5] == doctest::Approx(0.09 + 0.18));
  CHECK(row[14] == doctest::Approx(0.05));  // the caller's as wished
  CHECK(std::vector<float>(row.end() - 4, row.end()) == Floats{0.5, 0.25, 0.125, 0.125});
}

TEST_CASE("at the end of the day the last row is no caller's") {
  Scene scene(edge_day(Mode::deliver), ObsKind::list);
  for (int i = 0; i < 3; ++i) { scene.book(kNoChange, Flexibility::rigid); }
  REQUIRE(scene.booking.over());
  const Floats row = scene.row();
  // A delivery's stop is both its pickup and its drop-off.
  check_near({row.begin() + 12, row.end()}, {1, 0.02F, 0.05F, 1, 0.02F, 0.05F});
}

TEST_CASE("a histogram lists the places of what it counts") {
  Scene scene(edge_day(Mode::ride), ObsKind::hist);
  scene.book(kNoChange, Flexibility::rigid);
  // Zones 1 and 207 + 4; half-hours of 10,000 s / 48: 0 and 2, 1 and 4. Column 0 is of promises.
  const Floats promised = {2 * 1, 2 * 211, 2 * 414, 2 * 464, 2 * 511, 2 * 562};
  const Floats caller = {2 * 1 + 1,   2 * 210 + 1, 2 * 414 + 1,
                         2 * 464 + 1, 2 * 511 + 1, 2 * 562 + 1};
  Floats expected = promised;
  expected.insert(expected.end(), caller.begin(), caller.end());
  expected.resize(18, -1);
  CHECK(scene.row() == expected);
}

TEST_CASE("times outside the depot's day count in its first and last half-hour") {
  Instance day = edge_day(Mode::deliver);
  day.nodes[1].window = {-500, 20'000};
  Scene scene(day, ObsKind::hist);
  const Floats row = scene.row();
  CHECK(row[2] == 2 * 414 + 1);
  CHECK(row[3] == 2 * (414 + 48 + 47) + 1);
}

TEST_CASE("the depot's token counts the day") {
  Scene scene(edge_day(Mode::ride), ObsKind::set);
  Floats fresh(16, 0);
  fresh[0] = 1;
  fresh[7] = 1;   // all are to come
  fresh[10] = 1;  // all vehicles are idle
  check_near(token_of(scene.row(), 0), fresh);
  scene.book(kNoChange, Flexibility::rigid);
  Floats after = fresh;
  after[7] = 2.0F / 3;
  after[8] = 1.0F / 3;
  after[10] = 0.5F;
  after[11] = 0.6F;  // 600 m for one promise, by the side
  check_near(token_of(scene.row(), 0), after);
}

TEST_CASE("a promise's token tells place, windows, slack, load and position") {
  Scene scene(edge_day(Mode::ride), ObsKind::set);
  scene.book(kNoChange, Flexibility::rigid);
  // At 100 m by second 100, served at 200, left at 210; at 300 m by 410. The pickup could be 300 s
  // later, the drop-off 490 s.
  check_near(token_of(scene.row(), 1), {0, 1, 0, 0.1F, 0, 0.3F, 0, 0.02F, 0.05F, 0.04F, 0.09F,
                                        300.0F / 3600, 490.0F / 3600, 0.25F, 1.0F / 3, 0.2F});
  check_near(token_of(scene.row(), 2), Floats(16, 0));
  // Who waits has no place in a route yet.
  check_near(token_of(scene.row(), 3),
             {0, 0, 1, 0.1F, 0, 0.25F, 0, 0.02F, 0.05F, 0.04F, 0.09F, 0, 0, 0, 0, 0.15F});
}

TEST_CASE("a delivery has one slack, and the load of its route so far") {
  Scene scene(edge_day(Mode::deliver), ObsKind::set);
  scene.book(kNoChange, Flexibility::rigid);
  scene.book(kNoChange, Flexibility::rigid);  // at 300 m, by the same vehicle
  const Floats row = scene.row();
  // Served at 200 and 410, or 300 and 510; the order is the cheapest insertion's.
  REQUIRE(scene.booking.plan().routes[0] == std::vector<std::int32_t>{1, 2});
  const Floats second = token_of(row, 2);
  CHECK(second[11] == doctest::Approx((500 - 410) / 3600.0));
  CHECK(second[12] == second[11]);
  CHECK(second[13] == doctest::Approx(0.5));
  CHECK(second[14] == doctest::Approx(2.0 / 3));
  CHECK(token_of(row, 1)[11] == doctest::Approx((500 - 200 - 210) / 3600.0));
}

TEST_CASE("the set's prices are savings, chances and what these make together") {
  // The stop at 300 m is wished from 300 to 350, too early after the one at 100 m and too late
  // before it: another vehicle drives 600 m. Ten minutes later it is 400 m more of the first.
  Instance day = edge_day(Mode::deliver);
  day.nodes[2].window = {300, 350};
  Scene scene(day, ObsKind::set);
  scene.book(kNoChange, Flexibility::rigid);
  const Floats row = scene.row();
  const std::size_t savings = 4 * ObsWriter::kTokenWidth;
  CHECK(row[savings + kNoChange] == 0);
  for (std::size_t offer = 0; offer < kNumOffers; ++offer) {
    CAPTURE(offer);
    const double saved = row[savings + offer];
    const double chance = row[savings + kNumOffers + offer];
    const OfferedTime time = offered_time(static_cast<std::int32_t>(offer));
    CHECK(saved == doctest::Approx(time.later > 0 ? 0.2 : 0));
    // By the rule: later and both take what is only later, earlier and both what is only earlier.
    const double expected = time.earlier > 0 && time.later > 0 ? 0.125
                            : time.later > 0                   ? 0.5 + 0.125
                            : time.earlier > 0                 ? 0.25 + 0.125
                                                               : 1;
    CHECK(chance == doctest::Approx(expected));
    const double minutes = (time.earlier + time.later) / 60.0;
    CHECK(row[savings + 2 * kNumOffers + offer] ==
          doctest::Approx(chance * (saved - 0.02 * minutes)).epsilon(1e-4));
  }
}

TEST_CASE("expected prices weigh an offer by its chance, best offers are the least of them") {
  std::array<Cost, kNumOffers> prices{};
  prices.fill(5000);
  std::array<double, kNumOffers> chances{};
  chances.fill(0.5);
  chances[kNoChange] = 1;
  BookingRules rules;
  rules.per_minute = 20;
  rules.rejection = 300;
  CHECK(best_offer(prices, chances, rules) == kNoChange);  // nothing is saved by asking

  prices[13] = 1000;  // ten minutes later
  const auto expected = expected_prices(prices, chances, rules);
  CHECK(expected[13] == doctest::Approx(0.5 * (1000 + 200) + 0.5 * (5000 + 300)));
  CHECK(expected[kNoChange] == 5000);
  CHECK(best_offer(prices, chances, rules) == 13);
  rules.rejection = 3600;  // 0.5 * 1200 + 0.5 * 8600 = 4900, still below
  CHECK(best_offer(prices, chances, rules) == 13);
  rules.rejection = 3800;  // 5000: as dear as changing nothing
  CHECK(best_offer(prices, chances, rules) == kNoChange);

  // What fits nowhere costs what an unserved request costs.
  prices[kNoChange] = Insertion::kNowhere;
  rules.unserved = 50'000;
  rules.rejection = 0;
  CHECK(expected_prices(prices, chances, rules)[13] == doctest::Approx(0.5 * 1200 + 0.5 * 50'000));
  prices.fill(Insertion::kNowhere);
  CHECK(best_offer(prices, chances, rules) == kNoChange);
}

TEST_CASE("a step's reward is what the plan grew by, and what was paid") {
  Scene scene(edge_day(Mode::deliver), ObsKind::set);
  scene.rules = {.per_minute = 7, .rejection = 11, .unserved = 1000};
  const auto step = [&](std::int32_t action, Flexibility type) {
    scene.booking.offer(action, type, scene.rules);
    RoutingProblem problem = scene.booking.problem();
    scene.oracle->solve({&problem, 1});
    return scene.booking.finish(&problem, scene.rules);
  };
  CHECK(step(kNoChange, Flexibility::rigid) == -200);      // 100 m out and back
  CHECK(step(15, Flexibility::later) == -(400 + 7 * 30));  // 300 m by way of 100, 30 minutes
  CHECK(step(0, Flexibility::later) == -11);               // refused; 100 m lies on the way
  CHECK(scene.booking.tally().asked == 2);
  CHECK(scene.booking.tally().taken == 1);
  CHECK(scene.booking.tally().minutes == 30);
  CHECK(scene.booking.cost() == 600);
}

TEST_CASE("who fits nowhere is paid for, and who leaves is paid for beside the refusal") {
  Instance day = edge_day(Mode::deliver);
  day.capacity = 0;
  Scene scene(day, ObsKind::set);
  scene.rules = {.rejection = 11, .unserved = 1000, .walk_away = 1, .lost = 2000};
  scene.booking.offer(kNoChange, Flexibility::rigid, scene.rules);
  RoutingProblem problem = scene.booking.problem();
  scene.oracle->solve({&problem, 1});
  CHECK(scene.booking.finish(&problem, scene.rules) == -1000);
  const Booking::Answer answer = scene.booking.offer(3, Flexibility::rigid, scene.rules);
  CHECK_FALSE(answer.taken);
  CHECK_FALSE(answer.stays);
  CHECK(scene.booking.finish(nullptr, scene.rules) == -11 - 2000);
  CHECK(scene.booking.tally().unserved == 1);
  CHECK(scene.booking.tally().left == 1);
  CHECK(scene.booking.served().empty());
}

}  // namespace penstock::booking
