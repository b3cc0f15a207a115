#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/offer/offer.h"

// A query comes from another program, and one thing is wrong with it: the answer names the field by
// its way through the document, and what it should be.

namespace penstock::booking {
namespace {

using nlohmann::json;

json ride_query() {
  return json::parse(R"({
    "mode": "ride", "offer": "shift", "vehicles": 2, "capacity": 4, "max_ride_s": 3600,
    "roads": {"circuity": 1.0, "kmh": 36},
    "depot": {"x": 0, "y": 0, "earliest": "06:00", "latest": "22:00"},
    "requests": [
      {"id": "a", "load": 2,
       "pickup": {"x": 1000, "y": 0, "earliest": "08:00", "latest": "08:30", "service_s": 30},
       "dropoff": {"x": 4000, "y": 0}}],
    "routes": [["a", "a"], []],
    "new": {"id": "n",
            "pickup": {"x": 2000, "y": 0, "earliest": "09:00", "latest": "09:30"},
            "dropoff": {"x": 0, "y": 3000}}})");
}

json matrix_query() {
  return json::parse(R"({
    "mode": "deliver", "vehicles": 1, "capacity": 9,
    "matrix": {"distances_m": [[0, 5], [6, 0]], "durations_s": [[0, 7], [8, 0]]},
    "depot": {"location": 0},
    "requests": [],
    "routes": [],
    "new": {"id": "n", "stop": {"location": 1, "earliest": "09:00", "latest": "09:30"}}})");
}

/// The ride query on the globe, its depot where the equator meets Greenwich: 0.01 degrees are 1,112
/// m.
json globe_query() {
  json query = ride_query();
  const auto place = [&](const std::string& pointer) {
    json& stop = query[json::json_pointer(pointer)];
    stop["lon"] = stop["x"].get<double>() / 100000;
    stop["lat"] = stop["y"].get<double>() / 100000;
    stop.erase("x");
    stop.erase("y");
  };
  for (const char* stop :
       {"/depot", "/requests/0/pickup", "/requests/0/dropoff", "/new/pickup", "/new/dropoff"}) {
    place(stop);
  }
  return query;
}

std::string refusal_of(const json& document) {
  try {
    parse_offer_query(document.dump(), "q");
  } catch (const DataError& error) { return error.what(); }
  return "none";
}

/// What the document is refused for once the value at a place is another.
std::string changed(json document, const std::string& pointer, const char* value) {
  document[json::json_pointer(pointer)] = json::parse(value);
  return refusal_of(document);
}

std::string without(json document, const std::string& parent, const std::string& key) {
  document[json::json_pointer(parent)].erase(key);
  return refusal_of(document);
}

}  // namespace

TEST_CASE("the queries of these tests are right as they are") {
  CHECK(refusal_of(ride_query()) == "none");
  CHECK(refusal_of(matrix_query()) == "none");
}

TEST_CASE("numbers out of range, of the wrong kind, or not whole") {
  const auto ride = [](const std::string& pointer, const char* value) {
    return changed(ride_query(), pointer, value);
  };
  CHECK(ride("/vehicles", "0") == "q: vehicles: should be a whole number from 1 to 2000");
  CHECK(ride("/vehicles", "1.5") == "q: vehicles: should be a whole number from 1 to 2000");
  CHECK(ride("/vehicles", "\"2\"") == "q: vehicles: should be a whole number from 1 to 2000");
  CHECK(ride("/capacity", "-1") == "q: capacity: should be a whole number from 0 to 1000000");
  CHECK(ride("/capacity", "true") == "q: capacity: should be a whole number from 0 to 1000000");
  CHECK(ride("/max_ride_s", "604801") ==
        "q: max_ride_s: should be a whole number from 0 to 604800");
  CHECK(ride("/roads/circuity", "0.9") == "q: roads.circuity: should be a number from 1 to 10");
  CHECK(ride("/roads/kmh", "0") == "q: roads.kmh: should be a number from 1 to 300");
  CHECK(ride("/roads/kmh", "null") == "q: roads.kmh: should be a number from 1 to 300");
  CHECK(ride("/requests/0/load", "-2") ==
        "q: requests[0].load: should be a whole number from 0 to 1000000");
  CHECK(ride("/requests/0/pickup/service_s", "86401") ==
        "q: requests[0].pickup.service_s: should be a whole number from 0 to 86400");
  CHECK(ride("/new/dropoff/y", "2e7").starts_with("q: new.dropoff.y: should be a number from -"));
  CHECK(ride("/depot/x", "[0]").starts_with("q: depot.x: should be a number from -"));
}

TEST_CASE("times are seconds of a week, or clock times with two digits each") {
  const auto at = [](const char* value) {
    return changed(ride_query(), "/new/pickup/earliest", value);
  };
  const std::string remedy =
      "q: new.pickup.earliest: should be seconds since midnight, \"HH:MM\" or \"HH:MM:SS\"";
  for (const char* good : {"\"09:00\"", "\"00:00:00\"", "\"09:29:59\"", "32400", "32400.0"}) {
    CAPTURE(good);
    CHECK(at(good) == "none");
  }
  for (const char* bad : {"\"9:00\"", "\"09:60\"", "\"09-00\"", "\"09:00:60\"", "\"0900\"",
                          "\"-1:00\"", "\"09:0x\"", "\"09:00:00:00\"", "\"\"", "null", "{}"}) {
    CAPTURE(bad);
    CHECK(at(bad) == remedy);
  }
  const std::string range = "q: new.pickup.earliest: should be a whole number from 0 to 604800";
  CHECK(at("-1") == range);
  CHECK(at("604801") == range);
  CHECK(at("0.5") == range);
  CHECK(at("\"09:31\"") == "q: new.pickup: latest lies before earliest");
}

TEST_CASE("fields that are missing, and fields that nobody knows") {
  const auto lacks = [](const std::string& parent, const std::string& key) {
    return without(ride_query(), parent, key);
  };
  CHECK(lacks("", "vehicles") == "q: the field \"vehicles\" is missing");
  CHECK(lacks("", "requests") == "q: the field \"requests\" is missing");
  CHECK(lacks("", "new") == "q: the field \"new\" is missing");
  CHECK(lacks("", "routes") == "q: the field \"routes\" is missing");
  CHECK(lacks("/depot", "y") == "q: depot: the field \"y\" is missing");
  CHECK(lacks("/depot", "latest") == "q: depot: the field \"latest\" is missing");
  CHECK(lacks("/new", "id") == "q: new: the field \"id\" is missing");
  CHECK(lacks("/new", "pickup") == "q: new: the field \"pickup\" is missing");
  CHECK(lacks("/new/pickup", "latest") == "q: new.pickup: the field \"latest\" is missing");
  // Half a window is not a window; a drop-off without any follows its pickup.
  CHECK(changed(ride_query(), "/new/dropoff/latest", "40000") ==
        "q: new.dropoff: the field \"earliest\" is missing");

  CHECK(changed(ride_query(), "/new/stop", "{}").starts_with("q: new: unknown field \"stop\""));
  CHECK(changed(ride_query(), "/new/pickup/erliest", "1").find("did you mean 'earliest'?") !=
        std::string::npos);
  CHECK(changed(ride_query(), "/roads/mph", "30").starts_with("q: roads: unknown field \"mph\""));
  CHECK(changed(matrix_query(), "/matrix/durations", "[]").find("'durations_s'") !=
        std::string::npos);
  json long_key = ride_query();
  long_key[std::string(500, 'k')] = 1;
  CHECK(refusal_of(long_key).size() < 300);
}

TEST_CASE("things where lists and objects should be") {
  CHECK(changed(ride_query(), "/requests", "{}") == "q: requests: should be a list, [ ... ]");
  CHECK(changed(ride_query(), "/requests/0", "7") ==
        "q: requests[0]: should be an object, { ... }");
  CHECK(changed(ride_query(), "/depot", "[0, 0]") == "q: depot: should be an object, { ... }");
  CHECK(changed(ride_query(), "/roads", "36") == "q: roads: should be an object, { ... }");
  CHECK(changed(ride_query(), "/routes/1", "\"a\"") == "q: routes[1]: should be a list, [ ... ]");
  CHECK(changed(ride_query(), "/routes/0/1", "null") ==
        "q: routes[0][1]: should be a text in quotes or a whole number");
  CHECK(changed(ride_query(), "/new/id", "[5]") ==
        "q: new.id: should be a text in quotes or a whole number");
  CHECK(changed(ride_query(), "/offer", "\"sell\"") ==
        "q: offer: should be \"shift\" or \"widen\"");
  CHECK(changed(ride_query(), "/routes", R"([["a", "a"], [], []])") ==
        "q: routes: 3 entries: at most 2");
  CHECK(refusal_of(json::array()).starts_with("q: should be an object, as the example in"));
  CHECK(refusal_of(json(7)).starts_with("q: should be an object, as the example in"));
}

TEST_CASE("matrices are square, of one size, and have every location") {
  const auto with = [](const std::string& pointer, const char* value) {
    return changed(matrix_query(), pointer, value);
  };
  CHECK(with("/matrix/distances_m/1", "[6]") == "q: matrix.distances_m[1]: should have 2 entries");
  CHECK(with("/matrix/durations_s", "[[0, 7]]") == "q: matrix.durations_s: should have 2 rows");
  CHECK(with("/matrix/durations_s/0/1", "-7") ==
        "q: matrix.durations_s[0][1]: should be a whole number from 0 to 500000000");
  CHECK(with("/matrix/durations_s/0/1", "7.5") ==
        "q: matrix.durations_s[0][1]: should be a whole number from 0 to 500000000");
  CHECK(with("/matrix", R"({"distances_m": [], "durations_s": []})") ==
        "q: the matrix has no places");
  CHECK(with("/new/stop/location", "2") ==
        "q: new.stop.location: should be a whole number from 0 to 1");
  CHECK(with("/depot/x", "1") == "q: depot: has x beside a matrix: give its location instead");
  CHECK(with("/osrm", "{}") == "q: give matrix or osrm, not both");
  CHECK(without(matrix_query(), "/new/stop", "location") ==
        "q: new.stop: the field \"location\" is missing");
  json osrm = matrix_query();
  osrm.erase("matrix");
  osrm["osrm"] = json::parse(R"({"code": "Ok", "durations": [[0, null], [1, 0]]})");
  CHECK(refusal_of(osrm).starts_with("q: osrm: durations[0][1] is not a number"));
}

TEST_CASE("a plan that does not hold is told by the ids of requests and in clock times") {
  const std::string begin = "q: routes: the plan does not hold: ";
  json query = ride_query();
  query["routes"] = json::parse(R"([["a"], ["a"]])");
  CHECK(refusal_of(query) ==
        begin + "a's pickup is vehicle 0's, the other end of the ride another vehicle's");
  query["routes"] = json::parse(R"([[], []])");
  CHECK(refusal_of(query) ==
        begin + "a's pickup is in no route; a ride's id stands twice in the route of its vehicle");
  query = ride_query();
  query["capacity"] = 1;
  CHECK(refusal_of(query) == begin + "vehicle 0 carries 2 from a's pickup on, its capacity is 1");
  query = ride_query();
  query["max_ride_s"] = 299;  // 3 km at 10 m/s are 300 s
  CHECK(refusal_of(query).starts_with(
      begin + "vehicle 0 cannot keep every ride within max_ride_s = 299: a's "));
  query["max_ride_s"] = 300;
  CHECK(refusal_of(query) == "none");
  query["depot"]["latest"] = "08:12";  // 08:00 + 30 s + 300 s + 60 s + 400 s = 08:13:10
  CHECK(refusal_of(query) == begin + "vehicle 0 is back at 08:13:10, the depot closes at 08:12:00");
  query["depot"]["latest"] = "08:14";
  CHECK(refusal_of(query) == "none");
  query = ride_query();
  query["requests"][0]["dropoff"]["earliest"] = "08:00";
  query["requests"][0]["dropoff"]["latest"] = "08:05:29";  // 08:00 + 30 s + 300 s
  CHECK(refusal_of(query) ==
        begin + "a's drop-off is at 08:05:30, promised until 08:05:29 (vehicle 0)");
}

TEST_CASE("places on the globe are apart by great circles") {
  const OfferQuery query = parse_offer_query(globe_query().dump(), "q");
  // A degree of the equator or of a meridian is 6,371 km * pi / 180 = 111,194.93 m.
  CHECK(query.instance.distance_of(0, 1) == 1112);
  CHECK(query.instance.distance_of(0, 4) == 3336);
  CHECK(query.instance.duration_of(0, 4) == 334);  // at 10 m/s
  CHECK(query.instance.points[4].y == doctest::Approx(3335.85));
  // Berlin (13.4050, 52.5200) to Paris (2.3522, 48.8566): 877,463 m by the haversine formula.
  json far = globe_query();
  far["depot"]["lon"] = 13.4050;
  far["depot"]["lat"] = 52.5200;
  far["new"]["pickup"]["lon"] = 2.3522;
  far["new"]["pickup"]["lat"] = 48.8566;
  far["roads"]["circuity"] = 1.3;
  far["requests"] = json::array();
  far["routes"] = json::array();
  const OfferQuery cities = parse_offer_query(far.dump(), "q");
  CHECK(cities.instance.distance_of(0, 1) == doctest::Approx(1.3 * 877463).epsilon(2e-6));
}

TEST_CASE("places are all in metres or all in degrees, and degrees are not taken for metres") {
  json query = ride_query();
  query["new"]["pickup"] = json::parse(R"({"lon": 4.9, "lat": 52.3, "earliest": 1, "latest": 2})");
  CHECK(refusal_of(query) ==
        "q: new.pickup: give all places, the depot too, by x and y in metres, or all by lon and "
        "lat");
  CHECK(changed(globe_query(), "/depot/lat", "91") ==
        "q: depot.lat: should be a number from -90 to 90");
  CHECK(changed(globe_query(), "/depot/x", "1").starts_with("q: depot: give all places"));
  CHECK(without(globe_query(), "/depot", "lat") == "q: depot: the field \"lat\" is missing");
  CHECK(changed(matrix_query(), "/depot/lon", "1") ==
        "q: depot: has lon beside a matrix: give its location instead");
  json swapped = globe_query();
  for (const char* stop :
       {"/depot", "/requests/0/pickup", "/requests/0/dropoff", "/new/pickup", "/new/dropoff"}) {
    json& place = swapped[json::json_pointer(stop)];
    place["x"] = 4.9 + place["lon"].get<double>();
    place["y"] = 52.3 + place["lat"].get<double>();
    place.erase("lon");
    place.erase("lat");
  }
  CHECK(refusal_of(swapped) ==
        "q: all places lie within 20 metres of each other: are x and y degrees? Then call them lon "
        "and lat");
}

TEST_CASE("ids may be whole numbers, and come back as such") {
  json query = ride_query();
  query["requests"][0]["id"] = 7;
  query["routes"] = json::parse(R"([[7, "7"], []])");
  query["new"]["id"] = -12;
  const OfferQuery parsed = parse_offer_query(query.dump(), "q");
  const json answer = json::parse(offers_json(parsed, OfferPricer().price(parsed)));
  CHECK(answer["request"] == -12);
  CHECK(answer["offers"][0]["routes"][0]["stops"][0]["id"].is_number());
  CHECK(changed(query, "/new/id", "7") == "q: new.id: is another request's id too");
  CHECK(changed(query, "/new/id", "\"7\"") == "q: new.id: is another request's id too");
  CHECK(changed(query, "/new/id", "7.5") ==
        "q: new.id: should be a text in quotes or a whole number");
}

TEST_CASE("a date and time is told what to write instead") {
  CHECK(changed(ride_query(), "/new/pickup/earliest", "\"2026-11-18T08:40\"") ==
        "q: new.pickup.earliest: is a date and time: give the time of day, \"HH:MM\"; the next "
        "day's 08:00 is \"32:00\"");
}

TEST_CASE("what is left out has the meaning that the documentation gives it") {
  json query = ride_query();
  for (const char* key : {"mode", "offer", "max_ride_s", "roads"}) { query.erase(key); }
  query["depot"].erase("earliest");
  query["depot"].erase("latest");
  const OfferQuery parsed = parse_offer_query(query.dump(), "q");
  CHECK(parsed.instance.mode == Mode::ride);
  CHECK(parsed.kind == OfferKind::shift);
  CHECK(parsed.instance.max_ride == 0);
  CHECK(parsed.instance.nodes[0].window == Window{0, 86400});
  CHECK(parsed.instance.distance_of(0, 1) == 1300);  // roads are 1.3 crow's flights
  CHECK(parsed.instance.duration_of(0, 1) == 195);   // at 24 km/h
  CHECK(parsed.instance.nodes[1].load == 2);
  CHECK(parsed.instance.nodes[2].load == -2);
  CHECK(parsed.instance.nodes[3].load == 1);
  CHECK(parsed.instance.nodes[3].service == 60);
  // The drop-off's window: the pickup's, its service of 30 s and the direct way of 585 s later.
  CHECK(parsed.instance.nodes[2].window == Window{28800 + 615, 30600 + 615});
}

}  // namespace penstock::booking
