#include "penstock/domains/booking/neural/train/training_batch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "penstock/domains/booking/neural/features.h"
#include "penstock/domains/booking/neural/train/pointer_network.h"
#include "unit/domains/booking/neural/support.h"

using namespace penstock;
using namespace penstock::booking;
using namespace penstock::booking::test;

namespace {

/// Deliveries on a line, a kilometre and 90 s apart, the depot at 0; no service.
Instance street(const std::vector<int>& places, const std::vector<Window>& windows) {
  Instance day;
  day.mode = Mode::deliver;
  day.vehicles = 3;
  day.capacity = 10;
  day.nodes.push_back({{1000, 20'000}, 0, 0});
  for (const Window& window : windows) { day.nodes.push_back({window, 0, 1}); }
  std::vector<int> all = {0};
  all.insert(all.end(), places.begin(), places.end());
  for (const int a : all) {
    for (const int b : all) {
      day.distance.push_back(1000 * std::abs(a - b));
      day.duration.push_back(90 * std::abs(a - b));
    }
  }
  return day;
}

const std::vector<Window> kAnyTime(4, Window{0, 20'000});

float cell_of(const std::vector<float>& values, std::size_t row, std::size_t width,
              std::size_t column) {
  return values[row * width + column];
}

}  // namespace

TEST_CASE("a plan is told route by route, in the order of first services") {
  std::vector<Window> windows = kAnyTime;
  windows[1].earliest = 5000;  // node 2: the vehicle waits there
  const Instance day = street({1, 2, 3, 9}, windows);
  Task task;
  task.load(day, all_requests(day));
  // First services: 5000 at node 2, 1000 + 270 at node 3, 1000 + 810 at node 4.
  CHECK(sequence_of(task, {{{2}, {3, 1}, {4}}}).tokens ==
        std::vector<std::int32_t>{3, 1, 0, 4, 0, 2});
  // Vehicles that stay at home are not told; at equal times the lower number is first.
  CHECK(sequence_of(task, {{{}, {3}, {}}}).tokens == std::vector<std::int32_t>{3});
  const Instance even = street({2, -2, 2, 1}, kAnyTime);
  task.load(even, all_requests(even));
  CHECK(sequence_of(task, {{{3}, {2}, {1}}}).tokens == std::vector<std::int32_t>{3, 0, 2, 0, 1});
  CHECK(sequence_of(task, {{{}, {}, {}}}).tokens.empty());
}

TEST_CASE("a sequence speaks of tokens, not of the instance's nodes") {
  const Instance day = street({1, 2, 3, 9}, kAnyTime);
  Task task;
  const std::array<std::int32_t, 2> asked = {3, 1};  // nodes 4 and 2
  task.load(day, asked);
  CHECK(sequence_of(task, {{{2}, {4}}}).tokens == std::vector<std::int32_t>{2, 0, 1});
}

TEST_CASE("shorter constructions are padded with steps that weigh nothing") {
  const Instance day = street({1, 2, 3, 9}, kAnyTime);
  Task task;
  task.load(day, all_requests(day));
  const std::vector<BatchTask> tasks = {
      {&task, {{{1, 2, 3, 4}, 0.5F}}, 0},
      {&task, {{{4, 0, 3, 0, 2, 1}, 2.0F}}, 0},
  };
  const TrainingBatch batch = make_training_batch(tasks);
  CHECK(batch.tasks == 2);
  CHECK(batch.tokens == 5);
  REQUIRE(batch.steps == 6);
  CHECK(batch.weight == std::vector<float>{0.5, 0.5, 0.5, 0.5, 0, 0, 2, 2, 2, 2, 2, 2});
  CHECK(batch.chosen == std::vector<std::int64_t>{1, 2, 3, 4, 0, 0, 4, 0, 3, 0, 2, 1});
  CHECK(batch.here == std::vector<std::int64_t>{0, 1, 2, 3, 0, 0, 0, 4, 0, 3, 0, 2});
  for (const std::size_t row : {4, 5}) {
    for (std::size_t j = 0; j < 5; ++j) {
      CHECK(cell_of(batch.closed, row, 5, j) ==
            0);  // all open: a softmax over nothing is not a number
      CHECK(cell_of(batch.forbidden, row, 5, j) == 0);
      CHECK(cell_of(batch.choices, row, 5 * kChoiceFeatures, j * kChoiceFeatures) == 0);
    }
  }
}

TEST_CASE("what was served is closed, and what may not come next is forbidden") {
  const Instance day = street({1, 2, 3, 9}, kAnyTime);
  Task task;
  task.load(day, all_requests(day));
  const BatchTask question{&task, {{{2, 0, 3, 1, 4}, 1}}, 0};
  const TrainingBatch batch = make_training_batch({&question, 1});
  const auto pattern = [&](const std::vector<float>& masks, std::size_t row) {
    std::string out;
    for (std::size_t j = 0; j < 5; ++j) { out += cell_of(masks, row, 5, j) == 0 ? 'o' : 'x'; }
    return out;
  };
  CHECK(pattern(batch.closed, 0) == "ooooo");
  CHECK(pattern(batch.forbidden, 0) == "xoooo");  // home, before anything is served
  CHECK(pattern(batch.closed, 1) == "ooxoo");     // the depot stays open
  CHECK(pattern(batch.forbidden, 1) == "ooxoo");
  CHECK(pattern(batch.forbidden, 2) == "xoxoo");
  CHECK(pattern(batch.closed, 4) == "oxxxo");
  CHECK(pattern(batch.forbidden, 4) == "oxxxo");
}

TEST_CASE("a sequence ends before the first token that is not allowed; the next one follows it") {
  const Instance day = street({1, 2, 3, 9}, kAnyTime);
  Task task;
  task.load(day, all_requests(day));
  // Home at once is not allowed, nor is a stop twice.
  const BatchTask question{
      &task, {{{0, 1, 2}, 7}, {{2, 1, 1, 3}, 0.5F}, {{1, 2, 3, 4, 0}, -0.25F}}, 0};
  const TrainingBatch batch = make_training_batch({&question, 1});
  REQUIRE(batch.steps == 12);
  CHECK(batch.weight == std::vector<float>{0.5, 0.5, -0.25, -0.25, -0.25, -0.25, 0, 0, 0, 0, 0, 0});
  CHECK(std::vector<std::int64_t>(batch.chosen.begin(), batch.chosen.begin() + 6) ==
        std::vector<std::int64_t>{2, 1, 1, 2, 3, 4});
  CHECK(batch.here[2] == 0);  // each sequence starts at the depot
}

TEST_CASE("features are laid out by token, with the numbers of the street") {
  std::vector<Window> windows = kAnyTime;
  windows[2] = {2800, 4600};
  const Instance day = street({1, 2, 3, 9}, windows);
  Task task;
  task.load(day, all_requests(day));
  const BatchTask question{&task, {{{2, 3}, 1}}, 0};
  const TrainingBatch batch = make_training_batch({&question, 1});
  const std::array<int, 5> place = {0, 1, 2, 3, 9};
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      const std::size_t edge = (i * 5 + j) * kEdgeFeatures;
      const auto drive = static_cast<float>(90 * std::abs(place[i] - place[j])) / 900;
      CHECK(batch.edges[edge] == doctest::Approx(drive));
      CHECK(batch.edges[edge + 2] == doctest::Approx(drive));  // metres at the mean pace
    }
  }
  // From node 1, done by 0 at the earliest, to node 3 by 4600: a drive of 180 s leaves 4420.
  CHECK(batch.edges[(1 * 5 + 3) * kEdgeFeatures + 4] == doctest::Approx(4420.0 / 3600));
  CHECK(batch.nodes[3 * kNodeFeatures + 9] == doctest::Approx(0.5));  // half an hour wide
  CHECK(batch.nodes[3 * kNodeFeatures + 6] == 0);                     // the street has no points
  // At step 1 the vehicle is at node 2 since 1180: node 3 is 90 s away and opens at 2800.
  const std::size_t choice = (5 + 3) * kChoiceFeatures;
  CHECK(batch.choices[choice] == doctest::Approx(0.1));
  CHECK(batch.choices[choice + 1] == doctest::Approx((2800 - 1180 - 90) / 3600.0));
  CHECK(batch.choices[choice + 2] == doctest::Approx((4600 - 2800) / 3600.0));
  CHECK(batch.choices[choice + 4] == 1);
  CHECK(batch.choices[choice + 8] == doctest::Approx((1000 + 3000 - 2000) * 0.09 / 900));
  CHECK(batch.context[kContextFeatures + 1] == doctest::Approx(0.1));  // a load of 1 of 10
  CHECK(batch.context[kContextFeatures + 3] == doctest::Approx(3.0 / 20));
}

TEST_CASE("the loss of a batch is the sum of its tasks', whatever they are padded to") {
  Model model = small_model();
  std::vector<float> gradient(model.weights().size(), 0);
  const PointerNetwork network(model, gradient);
  const Instance day = street({1, 2, 3, 9}, kAnyTime);
  Instance other = street({5, -1, 4, 2}, kAnyTime);
  Task first;
  Task second;
  first.load(day, all_requests(day));
  second.load(other, all_requests(other));
  const BatchTask a{&first, {{{1, 2, 3, 4}, 1}}, 0};
  const BatchTask b{&second, {{{4, 0, 3, 0, 2, 1}, 0.5F}, {{1}, -3}}, 0};
  const auto loss_and_gradient = [&](const std::vector<BatchTask>& tasks, double scale) {
    std::ranges::fill(gradient, 0.0F);
    const double loss = network.add_gradient(make_training_batch(tasks), scale);
    return std::pair(loss, gradient);
  };
  const auto [loss_a, gradient_a] = loss_and_gradient({a}, 1);
  const auto [loss_b, gradient_b] = loss_and_gradient({b}, 1);
  const auto [loss, both] = loss_and_gradient({a, b}, 0.25);
  CHECK(loss == doctest::Approx(0.25 * (loss_a + loss_b)).epsilon(1e-5));
  double size = 0;
  double wrong = 0;
  for (std::size_t i = 0; i < both.size(); ++i) {
    const double expected = 0.25 * (double{gradient_a[i]} + double{gradient_b[i]});
    size += expected * expected;
    wrong += (both[i] - expected) * (both[i] - expected);
  }
  CHECK(size > 0);
  CHECK(std::sqrt(wrong / size) < 1e-4);
}

TEST_CASE("a plan whose weight is zero teaches nothing") {
  Model model = small_model();
  std::vector<float> gradient(model.weights().size(), 0);
  const Instance day = street({1, 2, 3, 9}, kAnyTime);
  Task task;
  task.load(day, all_requests(day));
  const BatchTask question{&task, {{{1, 2, 3, 4}, 0}}, 0};
  CHECK(PointerNetwork(model, gradient).add_gradient(make_training_batch({&question, 1}), 1) == 0);
  CHECK(std::ranges::all_of(gradient, [](float g) { return g == 0; }));
}
