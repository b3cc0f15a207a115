#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "penstock/core/base/random.h"
#include "penstock/domains/booking/neural/features.h"
#include "penstock/domains/booking/neural/planner.h"
#include "penstock/domains/booking/routing/checker.h"
#include "unit/domains/booking/neural/support.h"

using namespace penstock;
using namespace penstock::booking;
using namespace penstock::booking::test;

namespace {

/// A matrix of doubles, row by row: slow and plain.
struct Table {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values;

  Table(std::size_t r, std::size_t c) : rows(r), columns(c), values(r * c, 0.0) {}
  double& operator()(std::size_t i, std::size_t j) { return values[i * columns + j]; }
  double operator()(std::size_t i, std::size_t j) const { return values[i * columns + j]; }
};

Table times(const Table& a, const Table& b) {
  Table out(a.rows, b.columns);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < b.columns; ++j) {
      for (std::size_t k = 0; k < a.columns; ++k) { out(i, j) += a(i, k) * b(k, j); }
    }
  }
  return out;
}

/// The network as its paper would write it, a formula at a time.
class PlainNetwork {
 public:
  PlainNetwork(const Model& model, const Task& task)
      : model_(model),
        task_(task),
        width_(static_cast<std::size_t>(model.shape().width())),
        heads_(static_cast<std::size_t>(model.shape().heads)),
        nodes_(encode()) {}

  /// [N] The log-probabilities at a state of a construction.
  [[nodiscard]] std::vector<double> log_probabilities(const Construction& plan) const {
    const std::size_t n = nodes_.rows;
    const Table decoder = times(nodes_, parameter("decoder"));
    std::vector<float> context(kContextFeatures);
    std::vector<float> by_feature(kChoiceFeatures * n);
    plan.describe(context, by_feature.data(), n);
    Table told(1, kContextFeatures);
    for (std::size_t f = 0; f < kContextFeatures; ++f) { told(0, f) = context[f]; }
    Table choices(n, kChoiceFeatures);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t f = 0; f < kChoiceFeatures; ++f) { choices(j, f) = by_feature[f * n + j]; }
    }
    Table query = linear("context", told);
    Table mean(1, width_);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t c = 0; c < width_; ++c) {
        mean(0, c) += nodes_(i, c) / static_cast<double>(n);
      }
    }
    const Table graph = times(mean, parameter("graph"));
    const auto here = static_cast<std::size_t>(plan.here());
    for (std::size_t c = 0; c < width_; ++c) {
      query(0, c) += graph(0, c) + decoder(here, 3 * width_ + c);
    }
    const Table bias = linear("choice.down", relu(linear("choice.up", choices)));  // [N, H + 1]
    std::vector<double> glimpse(width_, 0.0);
    for (std::size_t head = 0; head < heads_; ++head) {
      std::vector<double> scores(n);
      for (std::size_t j = 0; j < n; ++j) {
        scores[j] = bias(j, head);
        for (std::size_t c = head * 16; c < head * 16 + 16; ++c) {
          scores[j] += query(0, c) * decoder(j, c) / 4;  // the root of 16
        }
      }
      const std::vector<double> share = softmax(scores, plan.open());
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t c = head * 16; c < head * 16 + 16; ++c) {
          glimpse[c] += share[j] * decoder(j, width_ + c);
        }
      }
    }
    std::vector<double> logits(n);
    for (std::size_t j = 0; j < n; ++j) {
      logits[j] = bias(j, heads_);
      for (std::size_t c = 0; c < width_; ++c) {
        logits[j] += (query(0, c) + glimpse[c]) * decoder(j, 2 * width_ + c) /
                     std::sqrt(static_cast<double>(width_));
      }
    }
    std::vector<double> probabilities = softmax(logits, plan.allowed());
    for (double& p : probabilities) { p = std::log(p); }
    return probabilities;
  }

 private:
  [[nodiscard]] Table parameter(const std::string& name) const {
    for (const Parameter& each : model_.parameters()) {
      if (each.name != name) { continue; }
      const bool matrix = each.shape.size() == 2;
      Table out(matrix ? static_cast<std::size_t>(each.shape[0]) : 1,
                static_cast<std::size_t>(each.shape.back()));
      const float* from = model_.weights().data() + each.offset;
      std::copy_n(from, out.values.size(), out.values.begin());
      return out;
    }
    FAIL("no parameter " << name);
    return {0, 0};
  }
  [[nodiscard]] Table linear(const std::string& name, const Table& x) const {
    Table out = times(x, parameter(name + ".weight"));
    const Table bias = parameter(name + ".bias");
    for (std::size_t i = 0; i < out.rows; ++i) {
      for (std::size_t j = 0; j < out.columns; ++j) { out(i, j) += bias(0, j); }
    }
    return out;
  }
  static Table relu(Table x) {
    for (double& value : x.values) { value = std::max(value, 0.0); }
    return x;
  }
  [[nodiscard]] Table normed(const Table& x, const std::string& name) const {
    const Table weight = parameter(name);
    Table out = x;
    for (std::size_t i = 0; i < x.rows; ++i) {
      double squares = 0;
      for (std::size_t c = 0; c < x.columns; ++c) { squares += x(i, c) * x(i, c); }
      const double root = std::sqrt(squares / static_cast<double>(x.columns) + 1e-6);
      for (std::size_t c = 0; c < x.columns; ++c) { out(i, c) *= weight(0, c) / root; }
    }
    return out;
  }
  static std::vector<double> softmax(std::vector<double> scores,
                                     std::span<const std::uint8_t> mask) {
    double total = 0;
    for (std::size_t j = 0; j < scores.size(); ++j) {
      scores[j] = mask.empty() || mask[j] != 0 ? std::exp(scores[j]) : 0;
      total += scores[j];
    }
    for (double& score : scores) { score /= total; }
    return scores;
  }
  static void add(Table& x, const Table& y) {
    for (std::size_t i = 0; i < x.values.size(); ++i) { x.values[i] += y.values[i]; }
  }

  [[nodiscard]] Table encode() const {
    const auto n = static_cast<std::size_t>(task_.num_tokens());
    std::vector<float> features(n * kNodeFeatures);
    write_nodes(task_, 0, features.data());
    Table told(n, kNodeFeatures);
    std::copy(features.begin(), features.end(), told.values.begin());
    Table edges(n * n, kEdgeFeatures);
    std::vector<float> row(kEdgeFeatures * n);
    for (std::size_t i = 0; i < n; ++i) {
      write_edges(task_, static_cast<std::int32_t>(i), row.data(), n);
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t f = 0; f < kEdgeFeatures; ++f) { edges(i * n + j, f) = row[f * n + j]; }
      }
    }
    const Table bias = linear("edge.down", relu(linear("edge.up", edges)));  // [N * N, L * H]
    Table x = linear("embed", told);
    for (std::size_t layer = 0; layer < static_cast<std::size_t>(model_.shape().layers); ++layer) {
      const std::string prefix = "block." + std::to_string(layer);
      add(x,
          times(attended(normed(x, prefix + ".norm1"), bias, layer), parameter(prefix + ".out")));
      add(x, linear(prefix + ".down", relu(linear(prefix + ".up", normed(x, prefix + ".norm2")))));
    }
    return normed(x, "norm");
  }
  [[nodiscard]] Table attended(const Table& x, const Table& bias, std::size_t layer) const {
    const std::size_t n = x.rows;
    const Table qkv = times(x, parameter("block." + std::to_string(layer) + ".qkv"));
    Table out(n, width_);
    for (std::size_t head = 0; head < heads_; ++head) {
      for (std::size_t i = 0; i < n; ++i) {
        std::vector<double> scores(n);
        for (std::size_t j = 0; j < n; ++j) {
          scores[j] = bias(i * n + j, layer * heads_ + head);
          for (std::size_t c = head * 16; c < head * 16 + 16; ++c) {
            scores[j] += qkv(i, c) * qkv(j, width_ + c) / 4;
          }
        }
        const std::vector<double> share = softmax(scores, {});
        for (std::size_t j = 0; j < n; ++j) {
          for (std::size_t c = head * 16; c < head * 16 + 16; ++c) {
            out(i, c) += share[j] * qkv(j, 2 * width_ + c);
          }
        }
      }
    }
    return out;
  }

  const Model& model_;
  const Task& task_;
  std::size_t width_;
  std::size_t heads_;
  Table nodes_;
};

/// Whether all on board can be put down in some order after a stop, and the vehicle gets home;
/// every order is tried.
bool some_order_ends_well(const Task& task, std::int32_t from, Seconds leave,
                          std::vector<std::int32_t> drops) {
  std::ranges::sort(drops);
  do {
    Seconds clock = leave;
    std::int32_t here = from;
    bool in_time = true;
    for (const std::int32_t drop : drops) {
      const Node& stop = task.stop(drop);
      clock = std::max(clock + task.duration(here, drop), stop.window.earliest);
      in_time = in_time && clock <= stop.window.latest;
      clock += stop.service;
      here = drop;
    }
    if (in_time && clock + task.duration(here, 0) <= task.stop(0).window.latest) { return true; }
  } while (std::ranges::next_permutation(drops).found);
  return false;
}

}  // namespace

TEST_CASE("the planner computes what plain sums of doubles compute") {
  Model model = small_model(3);
  Random random(8);
  // Biases and norms start at zero and one: any other numbers test them too.
  for (const Parameter& each : model.parameters()) {
    if (each.shape.size() == 2) { continue; }
    for (std::size_t i = 0; i < each.size(); ++i) {
      model.weights()[each.offset + i] += static_cast<float>(0.2 * random.normal());
    }
  }
  for (const Instance& day : mixed_days(6)) {
    Task task;
    task.load(day, all_requests(day));
    Planner planner(pack(model));
    const Task* pointer = &task;
    planner.encode({&pointer, 1});
    const PlainNetwork plain(model, task);
    Construction plan;
    plan.begin(task);
    for (int step = 0; step < 4 && !plan.done() && !plan.stuck(); ++step) {
      const std::vector<double> expected = plain.log_probabilities(plan);
      const std::span<const float> found = planner.log_probabilities(0, plan);
      double sum = 0;
      std::int32_t next = -1;
      for (std::size_t j = 0; j < expected.size(); ++j) {
        if (plan.allowed()[j] == 0) {
          REQUIRE(found[j] < -1e29F);
          continue;
        }
        REQUIRE(std::abs(found[j] - expected[j]) < 2e-4);
        sum += std::exp(static_cast<double>(found[j]));
        next = static_cast<std::int32_t>(j);
      }
      CHECK(sum == doctest::Approx(1).epsilon(1e-4));
      plan.take(next);
    }
  }
}

TEST_CASE("what a construction refuses would break a promise: no order of drop-offs helps") {
  Random random(12);
  Task task;
  Construction plan;
  std::size_t refused = 0;
  std::size_t allowed = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Instance day = random_day(
        seed, {.mode = Mode::ride, .requests = 8, .vehicles = 4, .capacity = 4, .window = 2400});
    task.load(day, all_requests(day));
    plan.begin(task);
    Seconds clock = day.nodes[0].window.earliest;
    std::int32_t load = 0;
    std::vector<std::int32_t> aboard;
    while (!plan.done() && !plan.stuck()) {
      for (std::int32_t token = 1; token < task.num_tokens(); ++token) {
        const bool pickup = Task::is_pickup(token);
        const Node& stop = task.stop(token);
        const bool open = plan.open()[static_cast<std::size_t>(token)] != 0;
        const bool carried = std::ranges::find(aboard, token) != aboard.end();
        bool expected = open && (pickup || carried) && load + stop.load <= day.capacity;
        const Seconds start =
            std::max(clock + task.duration(plan.here(), token), stop.window.earliest);
        std::vector<std::int32_t> drops = aboard;
        if (pickup) {
          drops.push_back(token + 1);
        } else {
          std::erase(drops, token);
        }
        expected = expected && start <= stop.window.latest &&
                   some_order_ends_well(task, token, start + stop.service, drops);
        REQUIRE((plan.allowed()[static_cast<std::size_t>(token)] != 0) == expected);
        if (open) { (expected ? allowed : refused) += 1; }
      }
      std::vector<std::int32_t> choices;
      for (std::int32_t token = 0; token < task.num_tokens(); ++token) {
        if (plan.allowed()[static_cast<std::size_t>(token)] != 0) { choices.push_back(token); }
      }
      const std::int32_t token = choices[random.below(static_cast<std::uint32_t>(choices.size()))];
      if (token == 0) {
        clock = day.nodes[0].window.earliest;
        load = 0;
      } else {
        const Node& stop = task.stop(token);
        clock = std::max(clock + task.duration(plan.here(), token), stop.window.earliest) +
                stop.service;
        load += stop.load;
        if (Task::is_pickup(token)) {
          aboard.push_back(token + 1);
        } else {
          std::erase(aboard, token);
        }
      }
      plan.take(token);
    }
  }
  CHECK(refused > 500);
  CHECK(allowed > 500);
}

TEST_CASE("turning the map turns places and nothing else") {
  const Instance day = random_day(5, {.requests = 3});
  Task task;
  task.load(day, all_requests(day));
  const auto n = static_cast<std::size_t>(task.num_tokens());
  std::vector<float> plain(n * kNodeFeatures);
  write_nodes(task, 0, plain.data());
  for (std::int32_t flip = -1; flip < kFlips; ++flip) {
    CAPTURE(flip);
    std::vector<float> turned(n * kNodeFeatures);
    write_nodes(task, flip, turned.data());
    for (std::size_t i = 1; i < n; ++i) {
      const float* was = plain.data() + i * kNodeFeatures;
      const float* is = turned.data() + i * kNodeFeatures;
      for (std::size_t f = 0; f < kNodeFeatures; ++f) {
        const bool place = f == 4 || f == 5 || f == 17 || f == 18;
        if (!place && !(flip < 0 && f == 6)) { CHECK(is[f] == was[f]); }
      }
      for (const std::size_t f : {4, 17}) {  // a stop's own place, and its partner's
        if (flip < 0) {
          CHECK(is[f] == 0);
          CHECK(is[f + 1] == 0);
          continue;
        }
        const float x = (flip & 1) != 0 ? -was[f] : was[f];
        const float y = (flip & 2) != 0 ? -was[f + 1] : was[f + 1];
        CHECK(is[f] == ((flip & 4) != 0 ? y : x));
        CHECK(is[f + 1] == ((flip & 4) != 0 ? x : y));
      }
    }
  }
}

TEST_CASE("samples come as often as their likelihood says") {
  const Instance day = random_day(9, {.mode = Mode::deliver, .requests = 4, .vehicles = 4});
  Task task;
  task.load(day, all_requests(day));
  Planner planner(pack(small_model()));
  const Task* pointer = &task;
  planner.encode({&pointer, 1});
  Construction plan;
  plan.begin(task);
  const std::span<const float> logs = planner.log_probabilities(0, plan);
  const std::vector<float> expected(logs.begin(), logs.end());
  std::vector<int> counts(expected.size(), 0);
  Random random(4);
  constexpr int kSamples = 4000;
  for (int i = 0; i < kSamples; ++i) {
    planner.construct(0, plan, &random);
    ++counts[static_cast<std::size_t>(plan.taken()[0])];
  }
  for (std::size_t j = 0; j < counts.size(); ++j) {
    const double p = std::exp(static_cast<double>(expected[j]));
    const double deviation = std::sqrt(p * (1 - p) / kSamples);
    CHECK(std::abs(counts[j] / double{kSamples} - p) <= 4 * deviation);
  }
  // Without randomness the likeliest step is taken.
  planner.construct(0, plan);
  CHECK(plan.taken()[0] == std::ranges::max_element(expected) - expected.begin());
}

TEST_CASE("a block holds at most 256 tokens, and one task at least") {
  std::vector<Instance> days;
  for (const std::int32_t requests : {60, 60, 10, 200}) {
    days.push_back(random_day(1, {.mode = Mode::ride, .requests = requests}));
  }
  std::vector<Task> tasks(4);
  std::vector<const Task*> pointers;
  for (std::size_t i = 0; i < 4; ++i) {
    tasks[i].load(days[i], all_requests(days[i]));
    pointers.push_back(&tasks[i]);
  }
  CHECK(Planner::block_of(pointers) == 2);  // 121 + 121, and 21 more are too many
  CHECK(Planner::block_of(std::span(pointers).subspan(3)) == 1);
  CHECK(Planner::block_of(std::span(pointers).subspan(1, 2)) == 2);
}
