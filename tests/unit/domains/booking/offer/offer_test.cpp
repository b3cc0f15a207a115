#include "penstock/domains/booking/offer/offer.h"

#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "penstock/core/base/errors.h"

namespace penstock::booking {
namespace {

using nlohmann::json;

/// Two rides along a line, 1 m of road a metre at 10 m/s, and a third along the same way.
json line_query() {
  const auto stop = [](double x, int earliest, int latest) {
    return json{{"x", x}, {"y", 0}, {"earliest", earliest}, {"latest", latest}, {"service_s", 0}};
  };
  return {
      {"mode", "ride"},
      {"vehicles", 2},
      {"capacity", 2},
      {"roads", {{"circuity", 1}, {"kmh", 36}}},
      {"depot", {{"x", 0}, {"y", 0}}},
      {"requests",
       {{{"id", "a"}, {"pickup", stop(1000, 30000, 31800)}, {"dropoff", stop(3000, 30200, 32000)}},
        {{"id", "b"},
         {"pickup", stop(1000, 40000, 41800)},
         {"dropoff", stop(3000, 40200, 42000)}}}},
      {"routes", json::parse(R"([["a", "a"], ["b", "b"]])")},
      {"new",
       {{"id", "n"}, {"pickup", stop(2000, 33000, 33600)}, {"dropoff", {{"x", 2500}, {"y", 0}}}}}};
}

OfferQuery parse(const json& document) { return parse_offer_query(document.dump(), "q"); }

std::string complaint(const json& document) {
  try {
    parse(document);
  } catch (const DataError& error) { return error.what(); }
  return "";
}

TEST_CASE("a query becomes an instance and a plan") {
  const OfferQuery query = parse(line_query());
  CHECK(query.request() == 2);
  CHECK(query.kind == OfferKind::shift);
  CHECK(query.plan.routes == std::vector<std::vector<std::int32_t>>{{1, 2}, {3, 4}});
  CHECK(query.instance.distance_of(1, 2) == 2000);
  CHECK(query.instance.duration_of(1, 2) == 200);
  // The drop-off follows: 500 m take 50 s; a dwell of 0 at the pickup.
  CHECK(query.instance.nodes[6].window == Window{33050, 33650});
  CHECK(query.instance.nodes[6].service == 60);
}

TEST_CASE("sixteen offers, the feasible ones best first") {
  const OfferQuery query = parse(line_query());
  const auto offers = OfferPricer().price(query).offers;
  REQUIRE(offers.size() == 16);
  for (std::size_t i = 1; i < offers.size(); ++i) {
    REQUIRE(offers[i - 1].fits >= offers[i].fits);
    if (offers[i].fits) { REQUIRE(offers[i - 1].added <= offers[i].added); }
  }
  // At 33,000 s a is long put down: out to 2.5 km from 2 km and home. Picked up half an hour
  // earlier, n lies on the way of a, and its drop-off on the way home.
  for (const PricedOffer& offer : offers) {
    if (offer.action == kNoChange) {
      CHECK(offer.added == 1000);  // the half kilometre from 2 to 2.5 km, there and back
    }
    if (offer.action == 0) {
      CHECK(offer.added == 0);
      CHECK(offer.routes.at(0).nodes == std::vector<std::int32_t>{1, 5, 2, 6});
    }
  }
}

TEST_CASE("an oracle prices the same offers, never dearer") {
  const OfferQuery query = parse(line_query());
  const auto cheap = OfferPricer().price(query).offers;
  const auto searched = OfferPricer(make_search_oracle("rr-10")).price(query).offers;
  for (const PricedOffer& one : cheap) {
    for (const PricedOffer& other : searched) {
      if (one.action == other.action && one.fits) { CHECK(other.added <= one.added); }
    }
  }
}

TEST_CASE("the answer is JSON with exact kilometres and the price of a minute") {
  const OfferQuery query = parse(line_query());
  const json answer = json::parse(offers_json(query, OfferPricer().price(query)));
  CHECK(answer["request"] == "n");
  CHECK(answer["plan_km"] == 12.0);
  REQUIRE(answer["offers"].size() == 16);
  const json& best = answer["offers"][0];
  CHECK(best["added_km"] == 0.0);
  CHECK(best["saved_km"] == 1.0);
  CHECK(best["saved_km_per_minute"].get<double>() ==
        doctest::Approx(1.0 / (best["earlier_min"].get<int>() + best["later_min"].get<int>()))
            .epsilon(1e-5));
  const json& stops = best["routes"][0]["stops"];
  CHECK(stops.size() == 4);
  CHECK(stops[1]["id"] == "n");
  CHECK(stops[1]["at"] == "pickup");
}

TEST_CASE("starts keep the longest ride by picking up later") {
  Instance instance;
  instance.nodes = {Node{{0, 86400}}, Node{{0, 5000}, 10, 1}, Node{{0, 9000}, 10, -1},
                    Node{{3000, 5000}, 10, 1}, Node{{0, 9000}, 10, -1}};
  instance.duration.assign(25, 100);
  const std::vector<std::int32_t> route = {1, 3, 4, 2};
  CHECK(starts_of(instance, instance.nodes, route) == std::vector<Seconds>{100, 3000, 3110, 3220});
  instance.max_ride = 400;
  CHECK(starts_of(instance, instance.nodes, route) == std::vector<Seconds>{2810, 3000, 3110, 3220});
}

TEST_CASE("deliveries by a matrix of places") {
  const json query = {
      {"mode", "deliver"},
      {"vehicles", 1},
      {"capacity", 10},
      {"matrix",
       {{"distances_m", {{0, 100, 300}, {150, 0, 200}, {300, 250, 0}}},
        {"durations_s", {{0, 10, 30}, {15, 0, 20}, {30, 25, 0}}}}},
      {"depot", {{"location", 0}}},
      {"requests",
       {{{"id", "a"}, {"stop", {{"location", 1}, {"earliest", "08:00"}, {"latest", "08:30"}}}}}},
      {"routes", {{"a"}}},
      {"new",
       {{"id", "n"}, {"stop", {{"location", 2}, {"earliest", "08:00:30"}, {"latest", 30600}}}}}};
  const OfferQuery parsed = parse(query);
  CHECK(parsed.kind == OfferKind::widen);
  CHECK(parsed.instance.nodes[2].window == Window{28830, 30600});
  const auto offers = OfferPricer().price(parsed).offers;
  CHECK(offers[0].action == kNoChange);
  CHECK(offers[0].added == 200 + 300 - 150);
  json osrm = query;
  osrm.erase("matrix");
  osrm["osrm"] = {{"code", "Ok"}, {"durations", query["matrix"]["durations_s"]}};
  CHECK(complaint(osrm).find("annotations=duration,distance") != std::string::npos);
  osrm["osrm"]["distances"] = query["matrix"]["distances_m"];
  CHECK(OfferPricer().price(parse(osrm)).offers[0].added == 350);
}

/// One delivery on an empty plan, 1,234 m away; the depot's day is that of the arguments.
json alone(const json& opens, const json& closes, const json& earliest, const json& latest) {
  return {{"mode", "deliver"},
          {"offer", "widen"},
          {"vehicles", 1},
          {"capacity", 9},
          {"matrix", {{"distances_m", {{0, 1234}, {1234, 0}}}, {"durations_s", {{0, 7}, {8, 0}}}}},
          {"depot", {{"location", 0}, {"earliest", opens}, {"latest", closes}}},
          {"requests", json::array()},
          {"routes", json::array()},
          {"new",
           {{"id", "a \"b\""},
            {"stop", {{"location", 1}, {"earliest", earliest}, {"latest", latest}}}}}};
}

json answer_to(const json& document) {
  const OfferQuery query = parse(document);
  return json::parse(offers_json(query, OfferPricer().price(query)));
}

std::map<int, json> by_number(const json& answer) {
  std::map<int, json> offers;
  for (const json& offer : answer["offers"]) { offers[offer["offer"].get<int>()] = offer; }
  return offers;
}

TEST_CASE("times of an answer are clock times, none before midnight") {
  const json answer = answer_to(alone(0, 604800, "00:10", 430000));
  CHECK(answer["request"] == "a \"b\"");
  CHECK(answer["plan_km"] == 0.0);
  auto offers = by_number(answer);
  CHECK(offers[kNoChange]["stop"] == json::parse(R"(["00:10:00", "119:26:40"])"));
  CHECK(offers[15]["stop"] == json::parse(R"(["00:10:00", "119:56:40"])"));
  // Ten minutes earlier is midnight; twenty would be the same window, and is not offered.
  CHECK(offers[8]["stop"] == json::parse(R"(["00:00:00", "119:26:40"])"));
  CHECK(offers.size() == 8);
  for (const auto& [number, offer] : offers) { CHECK(offer["earlier_min"].get<int>() <= 10); }
  CHECK(offers[kNoChange]["added_km"] == 2.468);
  CHECK_FALSE(offers[kNoChange].contains("saved_km"));  // it is what savings are against
  CHECK(offers[8]["saved_km"] == 0.0);
  const json& stop = offers[kNoChange]["routes"][0]["stops"][0];
  CHECK(stop["at"] == "stop");
  CHECK(stop["start"] == "00:10:00");
  CHECK(stop["arrival"] == "00:10:00");  // who would wait leaves the depot later
}

TEST_CASE("every offer can be sent back as it was given") {
  for (const json& query :
       {alone(0, 604800, "00:10", 430000), alone("08:00", "09:20", "08:15", "08:55"),
        alone("08:00", "20:00", "07:50", "08:20"), line_query()}) {
    const json answer = answer_to(query);
    for (const json& offer : answer["offers"]) {
      json again = query;
      for (const char* stop : {"stop", "pickup", "dropoff"}) {
        if (!offer.contains(stop)) { continue; }
        again["new"][stop]["earliest"] = offer[stop][0];
        again["new"][stop]["latest"] = offer[stop][1];
      }
      again["offer"] = "widen";
      auto answers = by_number(answer_to(again));
      CHECK(answers[kNoChange]["feasible"] == offer["feasible"]);
      if (offer["feasible"]) { CHECK(answers[kNoChange]["added_km"] == offer["added_km"]); }
    }
  }
}

TEST_CASE("offers lie inside the opening hours, and no two are the same") {
  auto early = by_number(answer_to(alone("08:00", "20:00", "08:15", "08:55")));
  CHECK(early.size() == 12);  // thirty minutes earlier is twenty
  CHECK(early[4]["stop"] == json::parse(R"(["08:00:00", "08:55:00"])"));
  json shifted = alone("08:00", "20:00", "12:00", "12:30");
  shifted["offer"] = "shift";
  auto seven = by_number(answer_to(shifted));
  REQUIRE(seven.size() == 7);  // 30 minutes earlier to 30 later; thirty of both are none of either
  CHECK(seven.contains(kNoChange));
  for (const int number : {0, 4, 8, 13, 14, 15}) { CHECK(seven.contains(number)); }
}

TEST_CASE("a wish outside the opening hours is told to be so; what lies inside is offered") {
  json query = alone("08:00", "20:00", "07:20", "07:40");
  auto offers = by_number(answer_to(query));
  CHECK(offers[kNoChange]["feasible"] == false);
  CHECK(offers[kNoChange]["stop"] == json::parse(R"(["07:20:00", "07:40:00"])"));
  CHECK(offers[14]["stop"] == json::parse(R"(["08:00:00", "08:00:00"])"));  // twenty later
  CHECK(offers[15]["stop"] == json::parse(R"(["08:00:00", "08:10:00"])"));
  CHECK(offers[15]["feasible"] == true);
  CHECK(offers.size() == 3);
}

TEST_CASE("what does not fit says why") {
  const auto reason = [](const json& query) {
    auto offers = by_number(answer_to(query));
    return offers[kNoChange].value("reason", "fits");
  };
  CHECK(reason(alone("08:00", "20:00", "09:00", "09:30")) == "fits");
  CHECK(reason(alone("08:00", "20:00", "07:20", "07:40")) == "day");
  CHECK(reason(alone("08:00", "20:00", "19:59:55", "20:00")) == "day");  // not home in time
  json query = alone("08:00", "20:00", "09:00", "09:30");
  query["new"]["load"] = 10;
  CHECK(reason(query) == "capacity");
  query["new"]["stop"]["earliest"] = query["new"]["stop"]["latest"] = "08:00:06";  // 7 s away
  CHECK(reason(query) == "several");
  query["new"]["load"] = 9;
  CHECK(reason(query) == "day");
  json ride = line_query();
  ride["new"]["dropoff"]["x"] = 4500;
  ride["max_ride_s"] = 249;  // 2.5 km at 10 m/s are 250 s
  CHECK(reason(ride) == "ride");
  ride["max_ride_s"] = 250;
  CHECK(reason(ride) == "fits");
  // The one vehicle is with a from 30,000 to 30,200 s, 5 km away.
  ride = line_query();
  ride["vehicles"] = 1;
  ride["routes"] = json::parse(R"([["a", "a", "b", "b"]])");
  ride["requests"][0]["pickup"]["latest"] = 30000;
  ride["requests"][0]["dropoff"]["latest"] = 30200;
  ride["new"]["pickup"]["y"] = 5000;
  ride["new"]["pickup"]["earliest"] = ride["new"]["pickup"]["latest"] = 30100;
  CHECK(reason(ride) == "window");
}

TEST_CASE("what is wrong is named by its field, with the remedy") {
  const auto with = [](const std::string& pointer, const json& value) {
    json query = line_query();
    query[json::json_pointer(pointer)] = value;
    return complaint(query);
  };
  CHECK(with("/requests/1/pickup/earliest", "8 o'clock") ==
        "q: requests[1].pickup.earliest: should be seconds since midnight, \"HH:MM\" or "
        "\"HH:MM:SS\"");
  json backwards = line_query();
  backwards["new"]["pickup"]["earliest"] = "09:00";
  backwards["new"]["pickup"]["latest"] = "08:59";
  CHECK(complaint(backwards) == "q: new.pickup: latest lies before earliest");
  CHECK(with("/vehicels", 3).find("did you mean 'vehicles'?") != std::string::npos);
  CHECK(with("/mode", "fly") == "q: mode: should be \"ride\" or \"deliver\"");
  CHECK(with("/new/id", "a") == "q: new.id: is another request's id too");
  CHECK(with("/routes/0", json::array({"a", "a", "a"}))
            .find("routes[0][2]: is visited a third time") != std::string::npos);
  CHECK(with("/routes/0", json::array({"a", "n"})).find("not the id of one of the requests") !=
        std::string::npos);
  CHECK(with("/routes/0", json::array()).find("a's pickup is in no route") != std::string::npos);
  CHECK(with("/routes", json::parse(R"([["a", "b", "b", "a"]])")).find("the plan does not hold") !=
        std::string::npos);
  CHECK(with("/new/pickup/location", 4).find("the matrix is missing") != std::string::npos);
  CHECK(with("/new/pickup/x", "1").find("q: new.pickup.x: should be a number") !=
        std::string::npos);
  CHECK_THROWS_WITH_AS(parse_offer_query("{\n\n!", "q"), doctest::Contains("q:3: not JSON"),
                       DataError);
  CHECK_THROWS_AS(parse_offer_query("{\"vehicles\": 1e999}", "q"), DataError);
  json query = line_query();
  query.erase("depot");
  CHECK(complaint(query) == "q: the field \"depot\" is missing");
}

}  // namespace
}  // namespace penstock::booking
