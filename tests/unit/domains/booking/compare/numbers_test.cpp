#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>

#include "domains/booking/compare/pictures.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/compare/evaluate.h"
#include "penstock/domains/booking/compare/reference.h"
#include "unit/domains/booking/compare/support.h"

using namespace penstock;
using namespace penstock::booking;

namespace {

double reward_of(const DayScore& day) { return day.reward; }

std::vector<DayScore> days_of(const std::vector<double>& rewards) {
  std::vector<DayScore> days;
  for (const double reward : rewards) { days.push_back({.reward = reward}); }
  return days;
}

/// Two rides along a street, a metre a second: pickups at 100 and 200, drop-offs at 400 and 300.
Instance two_rides() {
  Instance day;
  day.vehicles = 3;
  day.nodes = {{{3600, 40'000}, 0, 0},
               {{4000, 4600}, 10, 1},
               {{4000, 9000}, 10, -1},
               {{5000, 5600}, 20, 1},
               {{5000, 9000}, 20, -1}};
  test::put_on_a_street(day, {0, 100, 400, 200, 300});
  return day;
}

OfferMade offered(std::int32_t action, bool taken, Cost unchanged, Cost price) {
  OfferMade made{.wished = {Window{30'000, 31'800}, Window{}}, .action = action, .taken = taken};
  made.prices.fill(Insertion::kNowhere);
  made.prices[kNoChange] = unchanged;
  made.prices[static_cast<std::size_t>(action)] = price;
  made.served = true;
  return made;
}

bool has(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

/// A program that stands in for the interpreter; gone with the test.
class FakePython {
 public:
  explicit FakePython(const std::string& script)
      : folder_(std::filesystem::temp_directory_path() / "penstock fake python's") {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "python") << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(folder_ / "python", std::filesystem::perms::owner_all);
  }
  ~FakePython() { std::filesystem::remove_all(folder_); }
  FakePython(const FakePython&) = delete;
  FakePython& operator=(const FakePython&) = delete;

  [[nodiscard]] std::string path() const { return (folder_ / "python").string(); }
  [[nodiscard]] std::string file(const char* name) const {
    std::ostringstream out;
    out << std::ifstream(folder_ / name).rdbuf();
    return out.str();
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace

TEST_CASE("a time of the day is hours and minutes, also before midnight") {
  CHECK(booking::detail::clock_text(0) == "00:00");
  CHECK(booking::detail::clock_text(30'059) == "08:20");
  CHECK(booking::detail::clock_text(90'000) == "25:00");
  CHECK(booking::detail::clock_text(-1200) == "-00:20");
  CHECK(booking::detail::clock_text(-3660) == "-01:01");
  CHECK(booking::detail::clock_text(-30) == "00:00");
}

TEST_CASE("an interval is 1.96 standard errors to either side") {
  const Interval found = mean_of(days_of({1, 2, 3, 4}), reward_of);
  const double half = 1.96 * std::sqrt(5.0 / 3) / 2;  // the variance of 1, 2, 3, 4 is 5 / 3
  CHECK(found.mean == doctest::Approx(2.5));
  CHECK(found.low == doctest::Approx(2.5 - half));
  CHECK(found.high == doctest::Approx(2.5 + half));
  const Interval one = mean_of(days_of({7}), reward_of);
  CHECK(one.low == 7);
  CHECK(one.high == 7);
  CHECK(mean_of({}, reward_of).mean == 0);
}

TEST_CASE("a paired interval is that of the differences, whatever is common to the days") {
  const std::vector<DayScore> a = days_of({11, 22, 35, 40});
  const std::vector<DayScore> b = days_of({10, 20, 32, 36});
  const Interval found = paired_difference(a, b, reward_of);
  const double half = 1.96 * std::sqrt(5.0 / 3) / 2;  // the differences are 1, 2, 3, 4
  CHECK(found.mean == doctest::Approx(2.5));
  CHECK(found.high - found.low == doctest::Approx(2 * half));
  const Interval turned = paired_difference(b, a, reward_of);
  CHECK(turned.low == doctest::Approx(-found.high));
  // Only days that both have played are compared.
  CHECK(paired_difference(std::span(a).first(1), b, reward_of).mean == 1);
}

TEST_CASE("quantiles are of the sorted numbers") {
  std::vector<double> numbers;
  for (int i = 100; i > 0; --i) { numbers.push_back(i); }
  CHECK(quantile(numbers, 0.5) == 51);
  CHECK(quantile(numbers, 0.99) == 100);
  CHECK(quantile(numbers, 0) == 1);
  CHECK(quantile(numbers, 1) == 100);
  std::vector<double> none;
  CHECK(quantile(none, 0.5) == 0);
}

TEST_CASE("a line of the table has shares of sums, not means of shares") {
  Evaluation evaluation;
  evaluation.versus = "null";
  evaluation.policies = {
      {.name = "null", .days = {{.cost = 8000, .requests = 10}, {.cost = 12'000, .requests = 30}}},
      {.name = "max",
       .days = {{.cost = 6000,
                 .driven_s = 600,
                 .vehicles = 3,
                 .requests = 10,
                 .offers = 1,
                 .taken = 1,
                 .minutes = 30,
                 .unserved = 1,
                 .known_types = 4},
                {.cost = 9000,
                 .driven_s = 1200,
                 .vehicles = 4,
                 .requests = 30,
                 .offers = 9,
                 .taken = 2,
                 .minutes = 10,
                 .unserved = 1,
                 .lost = 6,
                 .known_types = 6}}}};
  const PolicyLine line = line_of(evaluation, evaluation.policies[1]);
  CHECK(line.cost.mean == doctest::Approx(7.5));
  CHECK(line.minutes.mean == doctest::Approx(15));
  CHECK(line.vehicles == doctest::Approx(3.5));
  // 32 of 40 are served: less is driven, but not for each of them.
  CHECK(line.per_served == doctest::Approx(15.0 / 32));
  CHECK(line.saving == doctest::Approx(1 - (15.0 / 32) / (20.0 / 40)));
  CHECK(line.lost == doctest::Approx(0.15));
  CHECK(line.acceptance == doctest::Approx(0.3));
  CHECK(line.shifted == doctest::Approx(1));
  CHECK(line.unserved == doctest::Approx(0.05));
  CHECK(line.known_types == doctest::Approx(0.25));
  CHECK(line.difference_cost.mean == doctest::Approx(-2.5));

  // Without null there is nothing to save against: a dash and a null, not a zero.
  evaluation.policies.erase(evaluation.policies.begin());
  evaluation.versus = "max";
  CHECK(std::isnan(line_of(evaluation, evaluation.policies[0]).saving));
  CHECK(has(evaluation.json(), "\"saving_per_served\":null"));
  // Days without any offer have no acceptance to divide by.
  evaluation.policies[0].days = {{.cost = 5}};
  CHECK(line_of(evaluation, evaluation.policies[0]).acceptance == 0);
  // Nobody was served: no kilometres of a served request either.
  CHECK(has(evaluation.json(), "\"km_per_served\":null"));
  CHECK(!has(evaluation.text(), "nan"));
}

TEST_CASE("costs are told in the unit of the days") {
  Evaluation evaluation;
  evaluation.versus = "null";
  evaluation.policies = {{.name = "null", .days = {{.reward = -5, .cost = 300, .requests = 2}}}};
  evaluation.references = {Evaluation::Reference{.days = 1, .ours = 5, .reference = 4}};
  CHECK(line_of(evaluation, evaluation.policies[0]).cost.mean == doctest::Approx(0.3));
  CHECK(has(evaluation.text(), "km/served"));
  CHECK(has(evaluation.json(), "\"unit\":\"km\""));

  evaluation.unit = CostUnit::seconds;
  CHECK(line_of(evaluation, evaluation.policies[0]).cost.mean == doctest::Approx(5));
  CHECK(has(evaluation.json(), "\"unit\":\"min\""));
  CHECK(has(evaluation.json(), "\"min_per_served\":2.5"));
  CHECK(!has(evaluation.json(), "km"));
  CHECK(has(evaluation.text(), "min/served"));
  CHECK(has(evaluation.text(), "minutes of driving"));
  CHECK(has(evaluation.text(), "promises: 4.00 min, ours 5.00 min"));
}

TEST_CASE("a vehicle leaves just in time for its first stop, and waits at the others") {
  const std::vector<booking::detail::Timetable> tables =
      booking::detail::timetables(two_rides(), {{{}, {1, 3, 4, 2}, {}}});
  REQUIRE(tables.size() == 1);
  const booking::detail::Timetable& table = tables[0];
  CHECK(table.vehicle == 1);
  CHECK(table.leaves == 3900);  // 100 s before 4000, not at 3600
  REQUIRE(table.visits.size() == 4);
  CHECK(table.visits[0].arrival == 4000);
  CHECK(table.visits[0].end == 4010);
  CHECK(table.visits[1].arrival == 4110);
  CHECK(table.visits[1].start == 5000);
  CHECK(table.visits[2].start == 5120);
  CHECK(table.visits[3].start == 5240);
  CHECK(table.returns == 5240 + 10 + 400);
  CHECK(table.cost == 100 + 100 + 100 + 100 + 400);
}

TEST_CASE("the hours of a timetable are whole, and hold every wish and promise") {
  BookingLog log;
  log.instance = two_rides();
  log.plan = {{{1, 2}}};
  log.days = {{offered(kNoChange, true, 0, 0)}};
  log.days[0][0].wished = {Window{4000, 4600}, Window{4000, 9000}};
  const BookingLog* shown = &log;
  CHECK(booking::detail::hours_out({&shown, 1}) == Window{3600, 10'800});  // 9000 s, rounded up
  log.days[0][0].wished[0].earliest = 3500;
  CHECK(booking::detail::hours_out({&shown, 1}) == Window{0, 10'800});
  log.plan = {{{}, {}}};
  CHECK(booking::detail::hours_out({&shown, 1}) == Window{0, 86'400});  // nobody is out
}

TEST_CASE("stops are named as people count") {
  const Instance rides = two_rides();
  CHECK(booking::detail::stop_text(rides, 1) == "pickup of request 1");
  CHECK(booking::detail::stop_text(rides, 4) == "drop-off of request 2");
  Instance deliveries = rides;
  deliveries.mode = Mode::deliver;
  CHECK(booking::detail::stop_text(deliveries, 4) == "stop of request 4");
  CHECK(booking::detail::window_text({30'600, 34'259}) == "08:30\u201309:30");
  CHECK(booking::detail::vehicle_class(9) ==
        booking::detail::vehicle_class(1));  // there are eight colours
}

TEST_CASE("grids count offers by what was made of them") {
  BookingLog log;
  log.days = {{offered(15, true, 5000, 2000), offered(15, false, 4000, 1000)},
              {offered(0, false, 1000, 4000), offered(kNoChange, true, 9, 9)}};
  const std::string made = booking::detail::made_grid(log);
  CHECK(has(made, ">50.0 %<"));  // two of four
  CHECK(has(made, ">25.0 %<"));
  const std::string taken = booking::detail::taken_grid(log);
  CHECK(has(taken, ">50 %<"));         // one of the two
  CHECK(has(taken, ">0 %<"));          // 30 minutes earlier were declined
  CHECK_FALSE(has(taken, ">100 %<"));  // nobody is asked when nothing changes
  BookingRules rules;
  rules.per_minute = 20;
  const std::string prices = booking::detail::price_grid(log, rules);
  CHECK(has(prices, ">0.100<"));        // 3 km for 30 minutes, twice
  CHECK(has(prices, ">\u22120.100<"));  // 3 km dearer for 30 minutes
  CHECK_FALSE(has(prices, "nan"));
}

TEST_CASE("the reference gets the days as promised, of those that are served") {
  const FakePython python("cp \"$2\" \"$(dirname \"$0\")/task\"; echo '[1200, null]'");
  std::vector<PromisedDay> days(2, {.instance = two_rides(), .served = {1}});
  days[1].served = {0, 1};
  const auto costs = solve_by_pyvrp(days, {.python = python.path(), .seconds = 0.25, .seed = 7});
  REQUIRE(costs.size() == 2);
  CHECK(costs[0] == Cost{1200});
  CHECK_FALSE(costs[1]);
  const std::string task = python.file("task");
  CHECK(has(task, "\"seconds\":0.25"));
  CHECK(has(task, "\"seed\":7"));
  // The depot and the second ride: 0, 200 and 300 m.
  CHECK(has(task, "\"nodes\":[[3600,40000,0,0],[5000,5600,20,1],[5000,9000,20,-1]]"));
  CHECK(has(task, "\"distance\":[0,200,300,200,0,100,300,100,0]"));
}

TEST_CASE("what is wrong with the interpreter is told with the remedy") {
  const std::vector<PromisedDay> days = {{.instance = two_rides(), .served = {0}}};
  const auto complaint = [&](const std::string& script) -> std::string {
    const FakePython python(script);
    try {
      std::ignore = solve_by_pyvrp(days, {.python = python.path()});
    } catch (const UsageError& error) { return error.what(); }
    return "none";
  };
  CHECK(complaint("echo '[5]'") == "none");
  CHECK(has(complaint("exit 3"), "has no PyVRP that knows pickups and drop-offs"));
  CHECK(has(complaint("exit 1"), "ended with code 1"));
  CHECK(has(complaint("echo '[5, 6]'"), "ended with code 0"));  // costs of other days
  CHECK(has(complaint("echo 'not json'"), "ended with code 0"));
}
