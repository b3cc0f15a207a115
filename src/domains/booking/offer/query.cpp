#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "domains/booking/offer/violations.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/json.h"
#include "penstock/domains/booking/offer/offer.h"
#include "penstock/domains/booking/routing/checker.h"
#include "penstock/domains/booking/routing/json_field.h"
#include "penstock/domains/booking/routing/parsers.h"
#include "penstock/domains/booking/routing/roads.h"

namespace penstock::booking {
namespace {

constexpr std::int32_t kMostRequests = 2000;
constexpr std::int32_t kMostMetres = 500'000'000;

/// How the document says where things are.
struct Matrices {
  std::size_t places = 0;  // 0: by x and y
  std::vector<Metres> distances;
  std::vector<Seconds> durations;
};

Json read_json(std::string_view text, const std::string& name) {
  try {
    return parse_json(text);
  } catch (const Json::parse_error& error) {
    const std::ptrdiff_t end = std::min(error.byte, text.size());
    throw DataError(
        fmt::format("{}:{}: not JSON at byte {}; see the example in docs/booking/offer.md", name,
                    1 + std::count(text.begin(), text.begin() + end, '\n'), error.byte));
  } catch (const Json::exception&) {  // a number beyond all doubles
    throw DataError(name + ": a number is too large");
  }
}

std::vector<std::int32_t> read_matrix(const JsonField& rows, std::size_t places) {
  rows.require_array(places);
  if (rows.size() != places) { rows.fail(fmt::format("should have {} rows", places)); }
  std::vector<std::int32_t> matrix;
  for (std::size_t i = 0; i < places; ++i) {
    const JsonField row = rows.at(i);
    row.require_array(places);
    if (row.size() != places) { row.fail(fmt::format("should have {} entries", places)); }
    for (std::size_t k = 0; k < places; ++k) {
      matrix.push_back(row.at(k).integer(0, kMostMetres));
    }
  }
  return matrix;
}

Matrices read_matrices(const JsonField& root, const std::string& name) {
  Matrices matrices;
  if (root.has("matrix") && root.has("osrm")) { root.fail("give matrix or osrm, not both"); }
  if (root.has("matrix")) {
    const JsonField given = root.at("matrix");
    given.require_object({"distances_m", "durations_s"});
    const JsonField distances = given.at("distances_m");
    distances.require_array(kMostNodes);
    matrices.places = distances.size();
    matrices.distances = read_matrix(distances, matrices.places);
    matrices.durations = read_matrix(given.at("durations_s"), matrices.places);
  } else if (root.has("osrm")) {
    OsrmTable table = parse_osrm_table(to_text(root.at("osrm").json()), name + ": osrm");
    if (table.distances.empty()) {
      root.at("osrm").fail("has no distances: ask OSRM with annotations=duration,distance");
    }
    matrices = {table.places, std::move(table.distances), std::move(table.durations)};
  }
  if ((root.has("matrix") || root.has("osrm")) && matrices.places == 0) {
    root.fail("the matrix has no places");
  }
  return matrices;
}

/// Reads a document into a query, top to bottom.
class Reader {
 public:
  Reader(const JsonField& root, const std::string& name)
      : root_(root), matrices_(read_matrices(root, name)) {}

  OfferQuery read() {
    root_.require_object({"mode", "offer", "vehicles", "capacity", "max_ride_s", "ride_km_per_min",
                          "roads", "matrix", "osrm", "depot", "requests", "routes", "new"});
    read_setting();
    read_depot();
    const JsonField requests = root_.at("requests");
    requests.require_array(kMostRequests);
    for (std::size_t i = 0; i < requests.size(); ++i) { read_request(requests.at(i)); }
    read_request(root_.at("new"));
    fill();
    follow_pickups();
    read_routes();
    return std::move(query_);
  }

 private:
  template <class Value>
  Value choice(const char* key, Value fallback, std::string_view first, std::string_view second) {
    if (!root_.has(key)) { return fallback; }
    const JsonField field = root_.at(key);
    if (field.text() == first) { return static_cast<Value>(0); }
    if (field.text() == second) { return static_cast<Value>(1); }
    field.fail(fmt::format(R"(should be "{}" or "{}")", first, second));
  }

  void read_setting() {
    Instance& instance = query_.instance;
    instance.name = "offer";
    instance.mode = choice("mode", Mode::ride, "ride", "deliver");
    const bool ride = instance.mode == Mode::ride;
    query_.kind = choice("offer", ride ? OfferKind::shift : OfferKind::widen, "shift", "widen");
    instance.vehicles = root_.at("vehicles").integer(1, kMostRequests);
    instance.capacity = root_.at("capacity").integer(0, 1000000);
    if (root_.has("max_ride_s")) { instance.max_ride = root_.at("max_ride_s").integer(0, 604800); }
    if (root_.has("ride_km_per_min")) {
      query_.per_ride_minute =
          static_cast<Metres>(std::lround(1000 * root_.at("ride_km_per_min").number(0, 100)));
    }
    if (!root_.has("roads")) { return; }
    const JsonField roads = root_.at("roads");
    roads.require_object({"circuity", "kmh"});
    if (roads.has("circuity")) { roads_.circuity = roads.at("circuity").number(1, 10); }
    if (roads.has("kmh")) { roads_.metres_per_second = roads.at("kmh").number(1, 300) / 3.6; }
  }

  void read_depot() {
    const JsonField depot = root_.at("depot");
    depot.require_object({"x", "y", "lon", "lat", "location", "earliest", "latest"});
    Node node{.window = {.earliest = 0, .latest = 86400}};
    if (depot.has("earliest") || depot.has("latest")) { node.window = read_window(depot); }
    add(depot, node);
  }

  void read_request(const JsonField& request) {
    const bool ride = query_.instance.mode == Mode::ride;
    if (ride) {
      request.require_object({"id", "load", "pickup", "dropoff"});
    } else {
      request.require_object({"id", "load", "stop"});
    }
    const JsonField id = request.at("id");
    const auto number = static_cast<std::int32_t>(query_.ids.size());
    query_.ids.push_back(id.name());
    query_.id_is_number.push_back(id.json().is_number());
    if (!number_of_.emplace(query_.ids.back(), number).second) {
      id.fail("is another request's id too");
    }
    const std::int32_t load = request.has("load") ? request.at("load").integer(0, 1000000) : 1;
    read_stop(request.at(ride ? "pickup" : "stop"), load, true);
    if (ride) { read_stop(request.at("dropoff"), -load, false); }
  }

  void read_stop(const JsonField& stop, std::int32_t load, bool needs_window) {
    stop.require_object({"x", "y", "lon", "lat", "location", "earliest", "latest", "service_s"});
    Node node{.load = load};
    node.service = stop.has("service_s") ? stop.at("service_s").integer(0, 86400) : 60;
    const bool told = needs_window || stop.has("earliest") || stop.has("latest");
    if (told) { node.window = read_window(stop); }
    if (!told) { followers_.push_back(query_.instance.nodes.size()); }
    add(stop, node);
  }

  static Window read_window(const JsonField& field) {
    const Window window{.earliest = field.at("earliest").time(),
                        .latest = field.at("latest").time()};
    if (window.latest < window.earliest) { field.fail("latest lies before earliest"); }
    return window;
  }

  void add(const JsonField& place, const Node& node) {
    if (matrices_.places > 0) {
      locations_.push_back(read_location(place));
    } else {
      query_.instance.points.push_back(read_point(place));
    }
    query_.instance.nodes.push_back(node);
  }

  [[nodiscard]] std::int32_t read_location(const JsonField& place) const {
    for (const char* key : {"x", "y", "lon", "lat"}) {
      if (!place.has(key)) { continue; }
      place.fail(fmt::format("has {} beside a matrix: give its location instead", key));
    }
    return place.at("location").integer(0, static_cast<std::int32_t>(matrices_.places) - 1);
  }

  /// Metres, or degrees if the depot, which comes first, has them.
  Point read_point(const JsonField& place) {
    constexpr double kMost = 1e7;  // metres: a quarter of the globe
    if (place.has("location")) {
      place.fail(
          "has a location, but the matrix is missing: add matrix or osrm, or give x and y, or lon "
          "and lat");
    }
    const bool degrees = place.has("lon") || place.has("lat");
    if (query_.instance.points.empty()) { degrees_ = degrees; }
    if (degrees != degrees_ || (degrees && (place.has("x") || place.has("y")))) {
      place.fail("give all places, the depot too, by x and y in metres, or all by lon and lat");
    }
    if (!degrees) {
      return {.x = place.at("x").number(-kMost, kMost), .y = place.at("y").number(-kMost, kMost)};
    }
    return {.x = place.at("lon").number(-180, 180), .y = place.at("lat").number(-90, 90)};
  }

  void refuse_degrees() const {
    if (!look_like_degrees(query_.instance.points)) { return; }
    root_.fail(
        "all places lie within 20 metres of each other: are x and y degrees? Then call them lon "
        "and lat");
  }

  void fill() {
    Instance& instance = query_.instance;
    if (degrees_) {
      fill_from_degrees(roads_, instance.points, instance);
      const Point middle = instance.points.front();
      for (Point& place : instance.points) { place = lay_flat(place, middle); }
      return;
    }
    if (matrices_.places == 0) {
      refuse_degrees();
      return fill_matrices(roads_, instance);
    }
    for (const std::size_t from : locations_) {
      for (const std::size_t to : locations_) {
        instance.distance.push_back(matrices_.distances[from * matrices_.places + to]);
        instance.duration.push_back(matrices_.durations[from * matrices_.places + to]);
      }
    }
  }

  /// Drop-offs without a window: the pickup's, as much later as the direct way takes.
  void follow_pickups() {
    Instance& instance = query_.instance;
    for (const std::size_t drop : followers_) {
      const Node& pickup = instance.nodes[drop - 1];
      const std::int32_t node = drop;
      const Seconds later = pickup.service + instance.duration_of(node - 1, node);
      instance.nodes[drop].window = {.earliest = pickup.window.earliest + later,
                                     .latest = pickup.window.latest + later};
    }
  }

  void read_routes() {
    const Instance& instance = query_.instance;
    const JsonField routes = root_.at("routes");
    routes.require_array(static_cast<std::size_t>(instance.vehicles));
    query_.plan.routes.resize(static_cast<std::size_t>(instance.vehicles));
    std::vector<std::int32_t> visits(query_.ids.size(), 0);
    for (std::size_t v = 0; v < routes.size(); ++v) {
      const JsonField route = routes.at(v);
      route.require_array(2 * static_cast<std::size_t>(kMostRequests));
      for (std::size_t i = 0; i < route.size(); ++i) {
        query_.plan.routes[v].push_back(read_visit(route.at(i), visits));
      }
    }
    std::vector<std::int32_t> served(query_.request());
    std::iota(served.begin(), served.end(), 0);
    if (const auto violation = check_plan(instance, query_.plan, served)) {
      routes.fail("the plan does not hold: " + words_of(query_, *violation));
    }
  }

  /// A request's first visit is its pickup, its second the drop-off.
  std::int32_t read_visit(const JsonField& visit, std::vector<std::int32_t>& visits) const {
    const auto found = number_of_.find(visit.name());
    if (found == number_of_.end() || found->second == query_.request()) {
      visit.fail("is not the id of one of the requests");
    }
    const std::size_t request = found->second;
    if (visits[request] == query_.instance.stops_per_request()) {
      visit.fail(query_.instance.mode == Mode::ride
                     ? "is visited a third time: a ride is a pickup and a drop-off"
                     : "is visited twice");
    }
    return query_.instance.first_node(found->second) + visits[request]++;
  }

  const JsonField& root_;
  Matrices matrices_;
  Roads roads_;
  bool degrees_ = false;
  OfferQuery query_;
  std::map<std::string, std::int32_t, std::less<>> number_of_;  // by id
  std::vector<std::size_t> locations_;                          // [nodes], with a matrix
  std::vector<std::size_t> followers_;                          // drop-offs without a window
};

}  // namespace

OfferQuery parse_offer_query(std::string_view text, const std::string& name) {
  const Json document = read_json(text, name);
  const JsonField root(document, name);
  if (!document.is_object()) {
    root.fail("should be an object, as the example in docs/booking/offer.md");
  }
  return Reader(root, name).read();
}

}  // namespace penstock::booking
