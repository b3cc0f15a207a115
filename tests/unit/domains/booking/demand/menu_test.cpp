#include "penstock/domains/booking/demand/menu.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "penstock/core/base/random.h"
#include "penstock/domains/booking/demand/taste.h"

using namespace penstock;
using namespace penstock::booking;
using namespace penstock::booking::demand;

namespace {

/// By the definition, slot by slot.
double expected(const ChoiceModel& model, const std::vector<Wares>& wares, std::uint32_t shown) {
  const SegmentBelief belief = model.prior();
  double sum = 0;
  for (std::size_t k = 0; k < model.num_segments(); ++k) {
    double all = 1;
    double earned = 0;
    for (std::size_t s = 0; s < wares.size(); ++s) {
      if ((shown >> s & 1U) == 0) { continue; }
      const double weight =
          std::exp(model.segment(k).utility[s] - model.segment(k).beta * wares[s].fee);
      all += weight;
      earned += weight * wares[s].margin;
    }
    sum += belief[k] * earned / all;
  }
  return sum;
}

ChoiceModel drawn_model(Random& random, std::size_t slots, std::size_t segments) {
  std::vector<ChoiceSegment> list(segments);
  for (ChoiceSegment& one : list) {
    one.share = random.uniform(0.1, 1);
    one.beta = random.uniform(0.05, 0.5);
    for (std::size_t s = 0; s < slots; ++s) { one.utility[s] = random.uniform(-2, 2); }
  }
  return {slots, list};
}

std::vector<Wares> drawn_wares(Random& random, std::size_t slots) {
  std::vector<Wares> wares(slots);
  for (Wares& one : wares) {
    one = {.margin = random.uniform(-5, 20),
           .fee = random.uniform(-2, 4),
           .feasible = random.uniform() < 0.9};
  }
  return wares;
}

/// The best of all menus, by trying them.
double best_of_all(const ChoiceModel& model, const std::vector<Wares>& wares) {
  double best = 0;
  for (std::uint32_t shown = 0; shown < 1U << wares.size(); ++shown) {
    bool allowed = true;
    for (std::size_t s = 0; s < wares.size(); ++s) {
      allowed = allowed && (wares[s].feasible || (shown >> s & 1U) == 0);
    }
    if (allowed) { best = std::max(best, expected(model, wares, shown)); }
  }
  return best;
}

}  // namespace

TEST_CASE("of one segment the menu is the best of all menus, of several nearly so") {
  Random random(7);
  double worst = 1;
  for (int trial = 0; trial < 400; ++trial) {
    constexpr std::size_t kSlots = 6;
    const ChoiceModel model = drawn_model(random, kSlots, trial % 2 == 0 ? 1 : 3);
    const std::vector<Wares> wares = drawn_wares(random, kSlots);
    const double best = best_of_all(model, wares);
    const Menu menu = best_menu(model, model.prior(), wares, false);
    std::uint32_t shown = 0;
    for (std::size_t s = 0; s < kSlots; ++s) { shown |= menu.shown[s] ? 1U << s : 0U; }
    CHECK(menu.margin == doctest::Approx(expected(model, wares, shown)));
    if (model.num_segments() == 1) { CHECK(menu.margin == doctest::Approx(best)); }
    if (best > 0) { worst = std::min(worst, menu.margin / best); }
    const Menu paid = best_menu(model, model.prior(), wares, true);
    CHECK(paid.margin >= menu.margin);
    CHECK((paid.favoured < 0 || menu.shown[static_cast<std::size_t>(paid.favoured)]));
  }
  CHECK(worst > 0.95);
}

TEST_CASE("tastes are read as they were written") {
  Tastes tastes = default_tastes();
  tastes.knows_fees = true;
  for (Taste& taste : tastes.list) { taste.worth[kFee] = -0.25; }
  const Tastes again = read_tastes(tastes_text(tastes), "file");
  REQUIRE(again.list.size() == tastes.list.size());
  CHECK(again.knows_fees);
  for (std::size_t k = 0; k < tastes.list.size(); ++k) {
    CHECK(again.list[k].worth == tastes.list[k].worth);
  }
  CHECK_THROWS(read_tastes(R"({"tastes": []})", "file"));
  CHECK_THROWS(read_tastes(R"({"tastes": [{"name": "a", "share": 1, "fee": 2}]})", "file"));
  CHECK_THROWS(read_tastes("[", "file"));
}

TEST_CASE("days ahead are counted over the ends of months and years") {
  CHECK(seen_from("2026-12-30", "2027-01-02", {.earliest = 3600, .latest = 7200}).day == 3);
  CHECK(seen_from("2024-02-28", "2024-03-01", {}).day == 2);
  CHECK(seen_from("2026-12-30", "2026-12-01", {}).day == 0);
}
