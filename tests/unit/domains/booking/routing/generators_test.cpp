#include "penstock/domains/booking/routing/generators.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/domains/booking/routing/roads.h"
#include "support/allocations.h"

namespace penstock::booking::generators_test {
namespace {

Instance made(std::string_view name, std::uint64_t seed, const GeneratorConfig& config = {}) {
  Instance instance;
  make_generator(name, config)->make(seed, instance);
  return instance;
}

TEST_CASE("a city's day is 61 places, five vehicles and windows of half an hour") {
  const Instance city = made("city", 1);
  CHECK(city.num_nodes() == 61);
  CHECK(city.num_requests() == 30);
  CHECK(city.vehicles == 5);
  CHECK(city.capacity == 4);
  CHECK(city.points[0].x == 3750);
  CHECK(city.nodes[0].window == Window{0, 86400});
  for (std::int32_t i = 0; i < 30; ++i) {
    const std::int32_t first = city.first_node(i);
    const Node& up = city.nodes.at(first);
    const Node& down = city.nodes.at(first + 1);
    REQUIRE(up.window.earliest % 600 == 0);
    REQUIRE(up.window.latest - up.window.earliest == 1800);
    REQUIRE(down.window.earliest - up.window.earliest == city.duration_of(first, first + 1) + 60);
    REQUIRE(down.window.latest - down.window.earliest == 1800);
    REQUIRE(up.load + down.load == 0);
    REQUIRE(up.service == 60);
  }
}

TEST_CASE("distances are crow's flights times 1.3, durations those at 24 km/h") {
  for (const char* name : {"city", "delivery", "clustered"}) {
    const Instance day = made(name, 7);
    for (std::int32_t a = 0; a < 61; ++a) {
      for (std::int32_t b = 0; b < 61; ++b) {
        const Point from = day.points.at(a);
        const Point to = day.points.at(b);
        const double metres = 1.3 * std::hypot(from.x - to.x, from.y - to.y);
        // Half a unit of rounding and what a float of 24 bits loses.
        REQUIRE(std::abs(day.distance_of(a, b) - metres) <= 0.51);
        REQUIRE(std::abs(day.duration_of(a, b) - metres * 3.6 / 24) <= 0.51);
        REQUIRE(day.distance_of(a, b) == day.distance_of(b, a));
      }
    }
  }
}

TEST_CASE("no way over a third place saves more than the matrices say") {
  for (const double side : {10.0, 7500.0, 1e7}) {
    CAPTURE(side);
    Random random(3);
    Instance day;
    day.nodes.resize(60);
    for (std::size_t i = 0; i < day.nodes.size(); ++i) {
      day.points.push_back({random.uniform(0, side), random.uniform(0, side)});
    }
    fill_matrices(Roads{}, day);
    Metres most = 0;
    for (std::int32_t a = 0; a < 60; ++a) {
      for (std::int32_t b = 0; b < 60; ++b) {
        for (std::int32_t c = 0; c < 60; ++c) {
          most =
              std::max(most, day.distance_of(a, c) - day.distance_of(a, b) - day.distance_of(b, c));
        }
      }
    }
    CHECK(most > 0);  // of rounding
    CHECK(most <= day.shortcut);
  }
}

TEST_CASE("the peaks of the day have their shares") {
  std::map<int, int> per_hour;
  const auto generator = make_generator("city", {});
  Instance day;
  constexpr int kDays = 400;
  double x = 0;
  for (std::uint64_t seed = 0; seed < kDays; ++seed) {
    generator->make(seed, day);
    for (std::int32_t i = 0; i < 30; ++i) {
      ++per_hour[day.nodes.at(day.first_node(i)).window.earliest / 1800];
    }
    for (std::size_t i = 1; i < day.points.size(); ++i) { x += day.points[i].x; }
  }
  const auto share = [&](int from, int to) {  // of half-hours
    int count = 0;
    for (int h = from; h < to; ++h) { count += per_hour[h]; }
    return count / (30.0 * kDays);
  };
  // A tenth lies anywhere in 7 to 20 h. Three standard deviations of 12,000 draws are 0.013.
  CHECK(share(13, 19) == doctest::Approx(0.35 + 0.1 * 2.5 / 13).epsilon(0.04));
  CHECK(share(22, 28) == doctest::Approx(0.25 + 0.1 * 3 / 13).epsilon(0.05));
  CHECK(share(31, 37) == doctest::Approx(0.30 + 0.1 * 3 / 13).epsilon(0.045));
  CHECK(share(13, 40) == 1);
  CHECK(x / (60.0 * kDays) == doctest::Approx(3750).epsilon(0.02));
}

TEST_CASE("a day is a function of its seed, whatever was in its memory") {
  Instance reused = made("delivery", 3, {.mode = Mode::deliver, .requests = 50});
  make_generator("city", {})->make(9, reused);
  const Instance fresh = made("city", 9);
  CHECK(reused.distance == fresh.distance);
  CHECK(reused.duration == fresh.duration);
  CHECK(reused.nodes.size() == fresh.nodes.size());
  CHECK(reused.capacity == 4);
  CHECK(made("city", 10).distance != fresh.distance);
}

TEST_CASE("from the second day on nothing is allocated") {
  for (const char* name : {"city", "delivery", "clustered"}) {
    const auto generator = make_generator(name, {});
    Instance day;
    generator->make(1, day);
    CHECK(penstock::test::largest_allocation() > 0);
    for (std::uint64_t seed = 2; seed < 20; ++seed) { generator->make(seed, day); }
    CHECK(penstock::test::largest_allocation() == 0);
  }
}

TEST_CASE("deliveries are single stops with room for forty") {
  const Instance day = made("delivery", 5, {.mode = Mode::deliver});
  CHECK(day.num_nodes() == 31);
  CHECK(day.capacity == 40);
  CHECK(day.points[0].y == 8500);
  CHECK(day.nodes[30].load == 1);
  CHECK(make_generator("delivery", {})->side() == 17000);
  CHECK(made("city", 5, {.capacity = 6, .max_ride = 1800}).capacity == 6);
}

TEST_CASE("clusters draw places together") {
  const auto mean_distance = [](std::string_view name) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const Instance day = made(name, seed);
      for (std::int32_t i = 1; i < 61; ++i) {
        Metres nearest = day.distance_of(i, 0);
        for (std::int32_t k = 1; k < 61; ++k) {
          if (k != i) { nearest = std::min(nearest, day.distance_of(i, k)); }
        }
        sum += nearest;
      }
    }
    return sum;
  };
  // Seven places of ten share the six clusters, three lie as before.
  CHECK(mean_distance("clustered") < 0.9 * mean_distance("city"));
}

/// A file that is gone with its test.
class TempFile {
 public:
  TempFile(const std::string& name, const std::string& text)
      : path_((std::filesystem::temp_directory_path() / name).string()) {
    std::ofstream(path_) << text;
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST_CASE("a sample of Solomon's customers, a unit a minute and 400 m") {
  const TempFile file(
      "penstock_solomon_sample.txt",
      "S\nVEHICLE\nN C\n3 70\nCUSTOMER\nheads\n0 10 10 0 0 230 0\n1 10 20 5 10 20 3\n"
      "2 20 10 6 30 40 3\n3 0 10 7 50 60 3\n4 10 0 8 70 80 3\n");
  const GeneratorConfig config{.mode = Mode::deliver, .requests = 2, .file = file.path()};
  std::set<std::int32_t> loads;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Instance day = made("solomon", seed, config);
    REQUIRE(day.num_nodes() == 3);
    CHECK(day.capacity == 70);
    CHECK(day.nodes[0].window == Window{0, 230 * 60});
    CHECK(day.duration_of(0, 1) == 600);
    CHECK(day.distance_of(0, 1) == 4000);
    const std::int32_t load = day.nodes[1].load;  // tells which customer it is
    CHECK(day.nodes[1].window == Window{(20 * load - 90) * 60, (20 * load - 80) * 60});
    CHECK(day.nodes[1].service == 180);
    CHECK(load != day.nodes[2].load);
    loads.insert(load);
  }
  CHECK(loads.size() == 4);
  const Instance rides = made("solomon", 1, {.requests = 2, .file = file.path()});
  CHECK(rides.num_nodes() == 5);
  CHECK(rides.nodes[1].load == 1);
  CHECK_THROWS_WITH_AS(made("solomon", 1, {.requests = 3, .file = file.path()}),
                       doctest::Contains("has 4 customers, the requests need 6"), UsageError);
  CHECK_THROWS_AS(made("solomon", 1), UsageError);
}

TEST_CASE("a sample of ORTEC's customers keeps both directions; the cost is seconds") {
  const TempFile file("penstock_ortec_sample.txt",
                      "DIMENSION : 3\nCAPACITY : 9\nEDGE_WEIGHT_TYPE : EXPLICIT\n"
                      "EDGE_WEIGHT_SECTION\n0 1 2\n3 0 4\n5 6 0\nTIME_WINDOW_SECTION\n1 0 900\n"
                      "2 10 20\n3 30 40\n");
  const GeneratorConfig config{.mode = Mode::deliver, .requests = 2, .file = file.path()};
  bool swapped = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Instance day = made("ortec", seed, config);
    const bool second = day.nodes[1].window.earliest == 30;
    swapped = swapped || second;
    CHECK(day.distance == (second ? std::vector<Metres>{0, 2, 1, 5, 0, 6, 3, 4, 0}
                                  : std::vector<Metres>{0, 1, 2, 3, 0, 4, 5, 6, 0}));
    CHECK(day.duration == day.distance);
    CHECK(day.unit == CostUnit::seconds);
  }
  CHECK(made("city", 1).unit == CostUnit::metres);
  CHECK(swapped);
}

TEST_CASE("degrees are great circles, a third longer by road") {
  // Amsterdam, Utrecht and The Hague; the haversine formula on a sphere of 6,371 km gives 34,162,
  // 52,735 and 56,127 m.
  const TempFile file("penstock_list_degrees.csv",
                      "lat,lon,to_lat,to_lon,earliest,latest\ndepot,52.3676,4.9041\n"
                      "52.0907,5.1214,52.0705,4.3007,08:00,08:20\n");
  const Instance day = made("csv", 1, {.requests = 1, .file = file.path()});
  const std::vector<Metres> expected = {0, 44411, 68556, 44411, 0, 72965, 68556, 72965, 0};
  CHECK(day.distance == expected);
  CHECK(day.duration == std::vector<Seconds>{0, 6662, 10283, 6662, 0, 10945, 10283, 10945, 0});
  // Flat, for pictures: as far apart as on the globe, to 0.5 % over 60 km; north is up.
  const auto apart = [&](std::size_t a, std::size_t b) {
    return 1.3 * std::hypot(day.points[a].x - day.points[b].x, day.points[a].y - day.points[b].y);
  };
  CHECK(apart(0, 1) == doctest::Approx(44411).epsilon(0.005));
  CHECK(apart(1, 2) == doctest::Approx(72965).epsilon(0.005));
  CHECK(day.points[0].y > day.points[1].y);
  CHECK(day.points[1].x > day.points[2].x);
  CHECK(made("csv", 1, {.mode = Mode::deliver, .requests = 1, .file = file.path()})
            .distance_of(0, 1) == 44411);
}

TEST_CASE("degrees that are called metres are refused with the remedy") {
  const TempFile degrees(
      "penstock_list_wrong.csv",
      "x,y,earliest,latest\n4.9041,52.3676,08:00,09:00\n5.12,52.09,08:00,09:00\n");
  const GeneratorConfig config{.mode = Mode::deliver, .requests = 2, .file = degrees.path()};
  CHECK_THROWS_WITH_AS(made("csv", 1, config), doctest::Contains("columns lon and lat"),
                       UsageError);
  const TempFile metres("penstock_list_small.csv",
                        "x,y,earliest,latest\n4.9,52.3,08:00,09:00\n5.1,82.1,08:00,09:00\n");
  CHECK(made("csv", 1, {.mode = Mode::deliver, .requests = 2, .file = metres.path()})
            .distance_of(1, 2) == 39);
}

TEST_CASE("rows of a list keep their order") {
  const TempFile file("penstock_list_sample.csv",
                      "x,y,to_x,to_y,earliest,latest\ndepot,100,100\n100,200,100,400,08:00,08:20\n"
                      "200,200,100,300,09:00,09:30\n100,100,1100,1100,07:00,07:30\n");
  const Instance all = made("csv", 1, {.requests = 3, .file = file.path()});
  CHECK(all.nodes[1].window == Window{28800, 30000});
  CHECK(all.nodes[5].window == Window{25200, 27000});
  CHECK(all.duration_of(1, 2) == 39);  // 260 m at 24 km/h
  CHECK(all.nodes[2].window == Window{28899, 30099});
  CHECK(all.points[0].x == 0);
  CHECK(make_generator("csv", {.requests = 3, .file = file.path()})->side() == 1000);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Instance two = made("csv", seed, {.requests = 2, .file = file.path()});
    CHECK((two.nodes[1].window.earliest == 28800 || two.nodes[3].window.earliest == 25200));
  }
}

TEST_CASE("a wrong name or number is named with the remedy") {
  CHECK_THROWS_WITH_AS(made("citi", 1),
                       "unknown generator 'citi', did you mean 'city'?; it is one of city, "
                       "delivery, clustered, solomon, "
                       "ortec, csv",
                       UsageError);
  CHECK_THROWS_WITH_AS(made("city", 1, {.requests = 0}), "requests = 0: allowed are 1 to 10000",
                       UsageError);
}

}  // namespace
}  // namespace penstock::booking::generators_test
