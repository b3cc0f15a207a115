#include "penstock/domains/booking/neural/train/demonstrations.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "penstock/core/base/errors.h"
#include "penstock/core/store/temporary_folder.h"
#include "penstock/domains/booking/routing/checker.h"
#include "penstock/domains/booking/routing/tours.h"
#include "support/sanitized.h"
#include "unit/domains/booking/neural/support.h"

using namespace penstock;
using namespace penstock::booking;
using namespace penstock::booking::test;

namespace {

/// A file of demonstrations that goes with the test.
class LessonFile {
 public:
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string text() const {
    std::ostringstream out;
    out << std::ifstream(path_).rdbuf();
    return out.str();
  }
  [[nodiscard]] std::string complaint_about(const std::string& text) const {
    std::ofstream(path_) << text;
    try {
      load_demonstrations(path_);
    } catch (const DataError& error) { return error.what(); }
    return "none";
  }

 private:
  TemporaryFolder folder_;
  std::string path_ = folder_ / "lessons.txt";
};

std::map<std::int32_t, int> sizes_of(Modes modes, std::uint64_t draws) {
  std::map<std::int32_t, int> counts;
  for (std::uint64_t i = 0; i < draws; ++i) { ++counts[draw_kind(modes, 5, i).requests]; }
  return counts;
}

Cost inserted_cost(const Instance& day) {
  Tours tours;
  tours.clear(day);
  for (std::int32_t r = 0; r < day.num_requests(); ++r) {
    const Insertion at = tours.cheapest(r);
    if (!at.fits()) { return 0; }
    tours.insert(r, at);
  }
  return tours.cost();
}

}  // namespace

TEST_CASE("kinds are of 3 to 50 requests, those of 20, 30 and 50 more often") {
  const std::map<std::int32_t, int> counts = sizes_of(Modes::both, 5500);
  CHECK(counts.begin()->first == 3);
  CHECK(counts.rbegin()->first == 50);
  const int often = std::min({counts.at(20), counts.at(30), counts.at(50)});
  for (const auto& [size, count] : counts) {
    if (size == 20 || size == 30 || size == 50) { continue; }
    CAPTURE(size);
    CHECK(count < often);
    CHECK(count > 50);  // of 5500, the rarest is 1 of 55
  }
}

TEST_CASE("a kind has the mode that was asked for, or either") {
  int rides = 0;
  for (std::uint64_t i = 0; i < 400; ++i) {
    REQUIRE(draw_kind(Modes::ride, 1, i).mode == Mode::ride);
    REQUIRE(draw_kind(Modes::deliver, 1, i).mode == Mode::deliver);
    REQUIRE(draw_kind(Modes::both, 1, i) == draw_kind(Modes::both, 1, i));
    // The sizes do not depend on which modes were asked for.
    REQUIRE(draw_kind(Modes::both, 1, i).requests == draw_kind(Modes::ride, 1, i).requests);
    rides += draw_kind(Modes::both, 1, i).mode == Mode::ride ? 1 : 0;
  }
  CHECK(rides > 150);
  CHECK(rides < 250);
}

TEST_CASE("days differ in what the network must cope with") {
  int widths = 0;
  int limited = 0;
  std::map<std::int32_t, int> fleets;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const Instance day = make_case({.mode = Mode::ride, .requests = 20}, seed);
    REQUIRE(day.num_requests() == 20);
    REQUIRE(day.points.size() == day.num_nodes());
    ++fleets[day.vehicles];
    limited += day.max_ride > 0 ? 1 : 0;
    bool mixed = false;
    for (std::int32_t r = 0; r < 20; ++r) {
      const auto node = static_cast<std::size_t>(day.first_node(r));
      const Window first = day.nodes[1].window;
      const Window up = day.nodes[node].window;
      REQUIRE(up.earliest <= up.latest);
      REQUIRE(day.nodes[node + 1].window.earliest <= day.nodes[node + 1].window.latest);
      REQUIRE(day.nodes[node].load == -day.nodes[node + 1].load);
      mixed = mixed || up.latest - up.earliest != first.latest - first.earliest;
    }
    widths += mixed ? 1 : 0;
  }
  CHECK(fleets.begin()->first == 3);   // at most seven requests each
  CHECK(fleets.rbegin()->first == 5);  // as the env has
  CHECK(limited > 2);                  // one in ten
  CHECK(limited < 30);
  CHECK(widths > 20);  // a third has some windows widened
  CHECK(widths < 60);
}

TEST_CASE("the teacher serves everybody for less than insertion, or gives no routes") {
  Cost taught = 0;
  Cost inserted = 0;
  for (std::uint64_t seed = 0; seed < (kSanitized ? 4 : 24); ++seed) {
    const CaseKind kind{seed % 2 == 0 ? Mode::ride : Mode::deliver, 10};
    const Demonstration demonstration = make_demonstration(kind, seed);
    const Instance day = make_case(kind, seed);
    if (demonstration.plan.routes.empty()) { continue; }
    const auto violation = find_violation(day, demonstration.plan, all_requests(day));
    REQUIRE_MESSAGE(!violation, violation.value_or(""));
    const Cost simple = inserted_cost(day);
    if (simple == 0) { continue; }  // insertion did not serve everybody
    taught += cost_of(day, demonstration.plan);
    inserted += simple;
  }
  CHECK(taught > 0);
  CHECK(taught < inserted);
}

TEST_CASE("a day that no plan serves makes no demonstration" * doctest::skip(kSanitized)) {
  // The fleet may be too small for 50 rides; which days these are is the checker's to say.
  std::size_t empty = 0;
  ThreadPool pool({.num_threads = 1});
  std::vector<std::size_t> told;
  const auto tell = [&](std::size_t done) { told.push_back(done); };
  const std::vector<Demonstration> demonstrations =
      make_demonstrations(Modes::both, 40, 9, pool, tell);
  for (const Demonstration& demonstration : demonstrations) {
    empty += demonstration.plan.routes.empty() ? 1 : 0;
  }
  CHECK(empty == 0);
  CHECK(demonstrations.size() <= 40);
  CHECK(demonstrations.size() > 20);
  CHECK(told == std::vector<std::size_t>{40});

  ThreadPool three({.num_threads = 3});
  three.use(3);
  const std::vector<Demonstration> again = make_demonstrations(Modes::both, 40, 9, three, tell);
  REQUIRE(again.size() == demonstrations.size());
  for (std::size_t i = 0; i < again.size(); ++i) {
    CHECK(again[i].seed == demonstrations[i].seed);
    CHECK(again[i].plan == demonstrations[i].plan);
  }
  // More demonstrations of a seed begin with the fewer.
  const std::vector<Demonstration> fewer = make_demonstrations(Modes::both, 10, 9, pool, tell);
  REQUIRE(fewer.size() <= demonstrations.size());
  for (std::size_t i = 0; i < fewer.size(); ++i) { CHECK(fewer[i].plan == demonstrations[i].plan); }
}

TEST_CASE("a demonstration is a line: its day, and after each 0 a route") {
  const LessonFile file;
  save_demonstrations(file.path(),
                      {{.kind = {Mode::ride, 2}, .seed = 77, .plan = {{{1, 3, 2, 4}, {}}}},
                       {.kind = {Mode::deliver, 3}, .seed = 5, .plan = {{{}, {2, 1}, {3}}}}});
  CHECK(file.text() == "ride 2 77 0 1 3 2 4 0\ndeliver 3 5 0 0 2 1 0 3\n");
  const std::vector<Demonstration> back = load_demonstrations(file.path());
  REQUIRE(back.size() == 2);
  CHECK(back[0].plan == Plan{{{1, 3, 2, 4}, {}}});  // the empty route is a vehicle too
  CHECK(back[1].plan == Plan{{{}, {2, 1}, {3}}});
  CHECK(back[1].kind == CaseKind{Mode::deliver, 3});
}

TEST_CASE("a damaged file of demonstrations is told with its line") {
  const LessonFile file;
  const std::string good = "ride 2 77 0 1 2 0 3 4\n";
  CHECK(file.complaint_about(good) == "none");
  CHECK(file.complaint_about("") == "none");  // no demonstrations at all
  const std::string remedy = ": not a lesson; delete the file to have it made anew";
  CHECK(file.complaint_about(good + good + "ride 2 77\n") == file.path() + ":3" + remedy);
  CHECK(file.complaint_about("ride 2 77 1 2 3\n" + good) == file.path() + ":1" + remedy);
  CHECK(file.complaint_about(good + "\n" + good) == file.path() + ":2" + remedy);
  CHECK(file.complaint_about("ride 0 77 0 1\n") == file.path() + ":1" + remedy);
  CHECK(file.complaint_about("ride -3 77 0 1\n") == file.path() + ":1" + remedy);
  CHECK(file.complaint_about("ride many 77 0 1\n") == file.path() + ":1" + remedy);
  for (const char* wrong :
       {"ride 2 77 0 999 -7", "walk 2 77 0 1 2 0 3 4", "ride 2 -77 0 1 2 0 3 4",
        "ride 2 77 0 1 2 0 3", "ride 2 77 0 1 2 0 3 4 0 4", "ride 2 77 0 1 2 0 3 4 five",
        "ride 2 77 0 1 2 0 3 4.5", "ride 2 77 0 1 4 0 3 2", "ride 2 77 0 2 1 0 3 4",
        "ride 2x 77 0 1 2 3 4", "deliver 2 77 0 1 2 3", "deliver 2 77 0 1 1",
        "deliver 2000000000 1 0 1"}) {
    CAPTURE(wrong);
    CHECK(file.complaint_about(good + wrong + "\n") == file.path() + ":2" + remedy);
  }
  CHECK(file.complaint_about(good + "ride 2 77 0 1 2 0 3 4") == file.path() + ":2" + remedy);
}

TEST_CASE("demonstrations that cannot be read or written are the disk's fault") {
  CHECK_THROWS_AS(load_demonstrations("/nowhere/lessons.txt"), IoError);
  CHECK_THROWS_AS(save_demonstrations("/nowhere/lessons.txt", {}), IoError);
}
