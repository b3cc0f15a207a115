#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "domains/booking/routing/generator_parts.h"
#include "penstock/domains/booking/routing/roads.h"

namespace penstock::booking {
namespace {

constexpr double kCitySide = 7500;
constexpr double kDeliverySide = 17000;

constexpr std::size_t kClusters = 6;
constexpr float kClustered = 0.7F;       // the share of places that lie in a cluster
constexpr double kClusterSpread = 0.06;  // of the side: a standard deviation

/// When people want to travel: a tenth at any time from 7 to 20 h, the others around 8, 12:30 and
/// 17 h, three hours wide.
Seconds draw_earliest(Random& random) {
  constexpr Seconds kHour = 3600;
  constexpr Seconds kGrid = 600;
  const float kind = random.uniform_float();
  const double place = random.uniform_float();
  double hour = 7 + 13 * place;
  if (kind < 0.9F) {
    const double peak = kind < 0.35F ? 8 : kind < 0.6F ? 12.5 : 17;
    hour = peak + 3 * (place - 0.5);
  }
  return static_cast<Seconds>(hour * kHour) / kGrid * kGrid;
}

/// Places all over a square, or most of them in clusters.
class Places {
 public:
  Places(double side, bool clustered, Random& random) : side_(side), clustered_(clustered) {
    if (!clustered_) { return; }
    for (Point& centre : centres_) { centre = anywhere(random); }
  }

  Point draw(Random& random) const {
    if (!clustered_ || random.uniform_float() >= kClustered) { return anywhere(random); }
    const Point centre = centres_[random.below(kClusters)];
    const double radius =
        std::sqrt(-2 * std::log(1 - double{random.uniform_float()})) * side_ * kClusterSpread;
    const double angle = 2 * std::numbers::pi * random.uniform_float();
    return {.x = std::clamp(centre.x + radius * std::cos(angle), 0.0, side_),
            .y = std::clamp(centre.y + radius * std::sin(angle), 0.0, side_)};
  }

 private:
  Point anywhere(Random& random) const {
    const double x = random.uniform_float();  // in this order, whatever the compiler
    return {.x = side_ * x, .y = side_ * random.uniform_float()};
  }

  double side_;
  bool clustered_;
  std::array<Point, kClusters> centres_{};
};

/// Trips or deliveries in a square with its depot in the middle.
class CityGenerator final : public Generator {
 public:
  CityGenerator(std::string_view name, GeneratorConfig config, double side, bool clustered)
      : name_(name), config_(std::move(config)), side_(side), clustered_(clustered) {}

  void make(std::uint64_t seed, Instance& into) const override {
    Random random = day_random(seed);
    into.name = name_;
    begin_day(config_, into);
    const Places places(side_, clustered_, random);
    into.points[0] = {.x = side_ / 2, .y = side_ / 2};
    for (std::size_t i = 1; i < into.points.size(); ++i) { into.points[i] = places.draw(random); }
    fill_matrices(Roads{}, into);
    for (std::int32_t i = 0; i < config_.requests; ++i) {
      ask_at(config_, i, draw_earliest(random), into);
    }
  }
  [[nodiscard]] double side() const override { return side_; }

 private:
  std::string name_;
  GeneratorConfig config_;
  double side_;
  bool clustered_;
};

}  // namespace

std::unique_ptr<Generator> make_city(std::string_view name, const GeneratorConfig& config) {
  const bool clustered = name == "clustered";
  if (!clustered && name != "city" && name != "delivery") { return nullptr; }
  const bool wide = name == "delivery" || (clustered && config.mode == Mode::deliver);
  return std::make_unique<CityGenerator>(name, config, wide ? kDeliverySide : kCitySide, clustered);
}

}  // namespace penstock::booking
