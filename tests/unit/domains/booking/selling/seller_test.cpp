#include "penstock/domains/booking/selling/seller.h"

#include <doctest/doctest.h>

#include <cmath>

#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/dispatch/files.h"

namespace penstock::booking::selling {
namespace {

const std::string kShipped = PENSTOCK_MODELS "/slots-seller";

constexpr const char* kFleet = R"({"vehicles": [
  {"id": "anna", "start": [13.40, 52.50], "end": [13.40, 52.50], "capacity": [20],
   "time_window": ["08:00", "20:00"], "costs": {"fixed": 25, "per_hour": 18, "per_km": 1}}],
  "forecast": {"calls": 20, "revenue": 20}})";

dispatch::Request request_at(double lon, dispatch::Problem& fleet) {
  const std::string text = R"({"id": "o1", "service": 300, "delivery": [1], "location": [)" +
                           std::to_string(lon) + ", 52.52]}";
  return dispatch::read_request(text, "request", fleet);
}

/// A day of two hours' slots from eight on, and its state for one caller.
struct Fixture {
  dispatch::Problem fleet = dispatch::read_problem(kFleet, "fleet");
  dispatch::Schedule plan{fleet};
  Forecast forecast = required_forecast(kFleet, "fleet");
  std::vector<dispatch::TimeWindow> windows{{28800, 36000}, {36000, 43200}, {79200, 82800}};
  ChoiceModel model{3, {{.share = 1, .beta = 0.25, .utility = {1, 0.5, 0}}}};
  SegmentBelief belief = model.prior();

  SlotState state(double hours_ahead) {
    const dispatch::Request request = request_at(13.45, fleet);
    const std::vector<PlanView> plans = {
        view_of(plan, request, windows, plan.quote(request, windows), false, forecast)};
    const std::vector<SlotPlace> places = {{0, 0}, {0, 1}, {0, 2}};
    return state_of({.model = model, .belief = belief, .revenue = 20, .hours_ahead = hours_ahead},
                    plans, places, forecast);
  }
};

std::string complaint(const std::string& text) {
  try {
    required_forecast(text, "fleet.json");
  } catch (const DataError& error) { return error.what(); }
  return "";
}

}  // namespace

TEST_CASE("fees are the closed form of what the network takes a sale to cost") {
  Fixture at;
  Seller seller(kShipped);
  CHECK(seller.name() == "slots-seller");
  const auto advice = seller.offer(at.state(100));
  REQUIRE(advice.size() == 3);
  REQUIRE(advice[0].show);
  CHECK_FALSE(advice[2].show);  // nobody drives at night
  // Of one segment the margin over the cost is the same for all that is shown, and solves
  // m = (1 + W(A / e)) / beta, that is beta m - 1 = sum of exp(u - beta (cost - revenue + m)).
  double attraction = 0;
  double margin = 0;
  for (std::size_t s = 0; s < 2; ++s) {
    if (!advice[s].show) { continue; }
    margin = advice[s].fee + 20 - advice[s].opportunity;
    attraction += std::exp(at.model.utility(0, s, advice[s].fee));
  }
  CHECK(0.25 * margin - 1 == doctest::Approx(attraction).epsilon(0.15));  // fees are of half units
}

TEST_CASE("what is known of the horizon is what is told") {
  Fixture at;
  CHECK(at.state(168).passed == 0);
  CHECK(at.state(84).passed == doctest::Approx(0.5));
  CHECK(at.state(84).slots[0].until_cutoff == doctest::Approx(0.5));
  CHECK(at.state(-5).passed == 1);
  CHECK(at.state(-5).slots[0].until_cutoff == 0);
  CHECK(at.state(84).expected == 20);
}

TEST_CASE("what is booked belongs to the slots that hold the middle of its window") {
  Fixture at;
  dispatch::Request booked = request_at(13.41, at.fleet);
  booked.task.stops[0].id.text = "o2";
  REQUIRE(at.plan.insert(booked, dispatch::TimeWindow{34200, 39600}));  // its middle is 10:15
  const SlotState state = at.state(10);
  CHECK(state.slots[0].sold == 0);
  CHECK(state.slots[1].sold == 1);
  CHECK(state.slots[1].nearest < 1);
  CHECK(state.sold == 1);
  CHECK(state.used == 1);
}

TEST_CASE("a forecast that is missing or wrong is told with what to do") {
  CHECK(complaint(R"({"vehicles": []})").find(R"("forecast": {"calls": 40)") != std::string::npos);
  CHECK(complaint(R"({"forecast": {"calls": 5}})").find("revenue") != std::string::npos);
  CHECK(complaint(R"({"forecast": {"calls": 5, "revenue": 2, "opens": 3}})").find("opens_h") !=
        std::string::npos);
  CHECK(complaint(R"({"forecast": {"calls": 5, "revenue": 2, "opens_h": 3, "closes_h": 4}})")
            .find("less than") != std::string::npos);
  CHECK_THROWS_AS(Seller(PENSTOCK_MODELS "/dvrptw-oracle.safetensors"), Error);
  CHECK_THROWS_AS(Seller("nowhere"), IoError);
}

}  // namespace penstock::booking::selling
