#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "domains/booking/routing/generator_parts.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/text_file.h"
#include "penstock/domains/booking/routing/parsers.h"
#include "penstock/domains/booking/routing/roads.h"

namespace penstock::booking {
namespace {

struct Square {
  Point corner;
  double side = 1;
};

struct Box {
  Point low;
  Point high;
};

Box box_around(const std::vector<Point>& points) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  Box box{.low = {kFar, kFar}, .high = {-kFar, -kFar}};
  for (const Point& point : points) {
    box.low = {std::min(box.low.x, point.x), std::min(box.low.y, point.y)};
    box.high = {std::max(box.high.x, point.x), std::max(box.high.y, point.y)};
  }
  return box;
}

/// The smallest square around points, its corner at the lowest coordinates.
Square square_around(const std::vector<Point>& points) {
  const auto [low, high] = box_around(points);
  return {low, std::max({high.x - low.x, high.y - low.y, 1.0})};
}

Point moved(Point point, const Square& square) {
  return {.x = point.x - square.corner.x, .y = point.y - square.corner.y};
}

/// The first `count` of a random order of 0 .. of - 1; the memory is this thread's.
const std::vector<std::int32_t>& draw_some(std::size_t count, std::size_t of, Random& random) {
  thread_local std::vector<std::int32_t> order;
  order.resize(of);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 0; i < count; ++i) { std::swap(order[i], order[i + random.below(of - i)]); }
  return order;
}

void require_enough(std::size_t needed, std::size_t found, const std::string& file,
                    std::string_view what) {
  if (found >= needed) { return; }
  throw UsageError(
      fmt::format("{} has {} {}, the requests need {}: ask for fewer", file, found, what, needed));
}

/// A file that has windows of its own leaves nothing for the config to say.
void refuse_window(const GeneratorConfig& config) {
  if (config.window == GeneratorConfig{}.window) { return; }
  throw UsageError(
      fmt::format("{}: the windows are the file's own, not {} minutes wide; leave the width out "
                  "(env.window_minutes), or change the file",
                  config.file, config.window / 60));
}

/// Some customers of a benchmark. In ride mode a request is picked up at one, by its earliest time,
/// and put down at another.
class SampleGenerator final : public Generator {
 public:
  SampleGenerator(std::string_view name, GeneratorConfig config, Instance source)
      : name_(name),
        config_(std::move(config)),
        source_(std::move(source)),
        square_(square_around(source_.points)) {
    require_enough(needed(), source_.num_nodes() - 1, config_.file, "customers");
    if (config_.mode == Mode::deliver) { refuse_window(config_); }
    if (config_.capacity == 0 && config_.mode == Mode::deliver) {
      config_.capacity = source_.capacity;
    }
    for (Point& point : source_.points) { point = moved(point, square_); }
  }

  void make(std::uint64_t seed, Instance& into) const override {
    Random random = day_random(seed);
    into.name = name_;
    into.unit = source_.unit;
    begin_day(config_, into);
    const auto& order = draw_some(needed(), source_.num_nodes() - 1, random);
    into.nodes[0].window = source_.nodes[0].window;
    copy_places(order, into);
    for (std::int32_t i = 0; i < config_.requests; ++i) {
      const std::size_t first = into.first_node(i);
      const Node& like = source_.nodes[from(order, first)];
      if (config_.mode == Mode::ride) {
        ask_at(config_, i, like.window.earliest, into);
      } else {
        into.nodes[first] = like;
      }
    }
  }
  [[nodiscard]] double side() const override { return square_.side; }

 private:
  [[nodiscard]] std::size_t needed() const {
    return static_cast<std::size_t>(config_.requests) * (config_.mode == Mode::ride ? 2 : 1);
  }
  /// The node of the source that a node of the day is.
  static std::size_t from(const std::vector<std::int32_t>& order, std::size_t node) {
    return node == 0 ? 0 : static_cast<std::size_t>(order[node - 1]) + 1;
  }
  void copy_places(const std::vector<std::int32_t>& order, Instance& into) const {
    const std::size_t nodes = into.num_nodes();
    const std::size_t all = source_.num_nodes();
    into.distance.resize(nodes * nodes);
    into.duration.resize(nodes * nodes);
    for (std::size_t i = 0; i < nodes; ++i) {
      const std::size_t row = from(order, i);
      into.points[i] = source_.points[row];
      for (std::size_t k = 0; k < nodes; ++k) {
        const std::size_t at = row * all + from(order, k);
        into.distance[i * nodes + k] = source_.distance[at];
        into.duration[i * nodes + k] = source_.duration[at];
      }
    }
  }

  std::string name_;
  GeneratorConfig config_;
  Instance source_;
  Square square_;
};

/// Calls use(place) for every place of a list.
template <class List, class Use>
void for_each_place(List& list, const Use& use) {
  for (auto& row : list.rows) {
    use(row.from);
    if (row.to) { use(*row.to); }
  }
  if (list.depot) { use(*list.depot); }
}

std::vector<Point> places_of(const RequestList& list) {
  std::vector<Point> places;
  for_each_place(list, [&](const Point& place) { places.push_back(place); });
  return places;
}

void refuse_degrees(const std::vector<Point>& places, const std::string& file) {
  if (places.size() < 2 || !look_like_degrees(places)) { return; }
  throw UsageError(
      file +
      ": all places lie within 20 metres of each other: are x and y degrees? Then call the "
      "columns lon and lat (and to_lon, to_lat)");
}

/// Lines of a list of requests, in the list's order.
class ListGenerator final : public Generator {
 public:
  ListGenerator(GeneratorConfig config, RequestList list)
      : config_(std::move(config)), list_(std::move(list)) {
    require_enough(config_.requests, list_.rows.size(), config_.file, "requests");
    refuse_window(config_);
    if (config_.mode == Mode::ride && !list_.rows.front().to) {
      throw UsageError(fmt::format("{}: rides need the columns {}", config_.file,
                                   list_.degrees ? "to_lon and to_lat" : "to_x and to_y"));
    }
    if (list_.degrees) {
      flatten();
    } else {
      refuse_degrees(places_of(list_), config_.file);
    }
    square_ = square_around(places_of(list_));
    const double half = square_.side / 2;
    depot_ = list_.depot ? moved(*list_.depot, square_) : Point{half, half};
  }

  void make(std::uint64_t seed, Instance& into) const override {
    Random random = day_random(seed);
    into.name = "csv";
    begin_day(config_, into);
    const std::size_t count = config_.requests;
    thread_local std::vector<std::int32_t> rows;
    const auto& order = draw_some(count, list_.rows.size(), random);
    rows.assign(order.begin(), order.begin() + config_.requests);
    std::sort(rows.begin(), rows.end());
    into.points[0] = depot_;
    for (std::size_t i = 0; i < count; ++i) {
      const RequestRow& row = list_.rows[rows[i]];
      const std::size_t first = into.first_node(i);
      into.points[first] = moved(row.from, square_);
      if (config_.mode == Mode::ride) { into.points[first + 1] = moved(*row.to, square_); }
    }
    fill(rows, into);
    for (std::int32_t i = 0; i < config_.requests; ++i) { ask(i, list_.rows[rows[i]], into); }
  }
  [[nodiscard]] double side() const override { return square_.side; }

 private:
  /// Where a line's request is on the globe, degrees.
  struct OnGlobe {
    Point from;
    Point to;
  };

  /// Keeps where everybody is on the globe, and makes the list one of metres.
  void flatten() {
    const Box box = box_around(places_of(list_));
    const Point middle{.x = std::midpoint(box.low.x, box.high.x),
                       .y = std::midpoint(box.low.y, box.high.y)};
    for (const RequestRow& row : list_.rows) {
      on_globe_.push_back({row.from, row.to.value_or(row.from)});
    }
    depot_on_globe_ = list_.depot.value_or(middle);
    for_each_place(list_, [&](Point& place) { place = lay_flat(place, middle); });
  }
  void fill(const std::vector<std::int32_t>& rows, Instance& into) const {
    if (!list_.degrees) {
      fill_matrices(Roads{}, into);
      return;
    }
    thread_local std::vector<Point> at;
    at.assign(1, depot_on_globe_);
    for (const std::int32_t row : rows) {
      at.push_back(on_globe_[row].from);
      if (config_.mode == Mode::ride) { at.push_back(on_globe_[row].to); }
    }
    fill_from_degrees(Roads{}, at, into);
  }
  void ask(std::int32_t request, const RequestRow& row, Instance& into) const {
    ask_at(config_, request, row.window.earliest, into);
    const std::size_t first = into.first_node(request);
    const Seconds width = row.window.latest - row.window.earliest;
    for (std::int32_t k = 0; k < into.stops_per_request(); ++k) {
      Node& node = into.nodes[first + k];
      node.window.latest = node.window.earliest + width;
      node.load = k == 0 ? row.load : -row.load;
    }
  }

  GeneratorConfig config_;
  RequestList list_;
  Square square_;
  Point depot_;
  std::vector<OnGlobe> on_globe_;  // [rows]; of a list in degrees
  Point depot_on_globe_;
};

/// Solomon's unit is both a length and a time. Here it is a minute at 24 km/h, 400 m, or less where
/// the file's day would be longer than ours.
Instance in_city_units(Instance tenths) {
  constexpr double kDay = 86400;
  constexpr double kMetresPerSecond = 24 / 3.6;
  const double horizon = tenths.nodes[0].window.latest;
  const double scale = std::min(6.0, kDay / std::max(horizon, 1.0));
  const auto seconds = [&](Seconds units) -> Seconds { return std::lround(units * scale); };
  for (Node& node : tenths.nodes) {
    node.window = {.earliest = seconds(node.window.earliest),
                   .latest = seconds(node.window.latest)};
    node.service = seconds(node.service);
  }
  for (Metres& metres : tenths.distance) {
    metres = std::lround(metres * scale * kMetresPerSecond);
  }
  for (Seconds& duration : tenths.duration) { duration = seconds(duration); }
  for (Point& point : tenths.points) {
    point = {.x = point.x * 10 * scale * kMetresPerSecond,
             .y = point.y * 10 * scale * kMetresPerSecond};
  }
  return tenths;
}

}  // namespace

CostUnit unit_of(std::string_view generator) {
  return generator == "ortec" ? CostUnit::seconds : CostUnit::metres;
}

std::unique_ptr<Generator> make_from_file(std::string_view name, const GeneratorConfig& config) {
  if (name != "solomon" && name != "ortec" && name != "csv") { return nullptr; }
  if (config.file.empty()) {
    throw UsageError(fmt::format("generator '{}' draws from a file: give its path", name));
  }
  const std::string text = read_text(config.file);
  if (name == "csv") {
    return std::make_unique<ListGenerator>(config, parse_requests_csv(text, config.file));
  }
  if (name == "ortec") {
    Instance source = parse_vrplib(text, config.file, Convention::ortec).instance;
    source.points.resize(source.num_nodes());
    source.unit = unit_of(name);
    return std::make_unique<SampleGenerator>(name, config, std::move(source));
  }
  return std::make_unique<SampleGenerator>(
      name, config, in_city_units(parse_solomon(text, config.file, Convention::dimacs).instance));
}

}  // namespace penstock::booking
