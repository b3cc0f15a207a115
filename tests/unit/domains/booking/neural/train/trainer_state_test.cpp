#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "penstock/core/base/errors.h"
#include "penstock/core/store/safetensors.h"
#include "penstock/core/store/temporary_folder.h"
#include "penstock/core/train/engine.h"
#include "penstock/domains/booking/neural/planner.h"
#include "penstock/domains/booking/neural/train/trainer.h"
#include "penstock/domains/booking/routing/checker.h"
#include "unit/domains/booking/neural/support.h"

using namespace penstock;
using namespace penstock::booking;
using namespace penstock::booking::test;

namespace {

/// A file that goes with the test.
struct StateFile {
  TemporaryFolder folder;
  const std::string path = folder / "state.safetensors";
};

TrainingOptions tiny_training(std::int64_t imitate, std::int64_t reinforce) {
  TrainingOptions options;
  options.shape = {.layers = 1, .heads = 2, .hidden = 32, .edge_hidden = 16};
  options.imitate.steps = imitate;
  options.reinforce.steps = reinforce;
  options.batch_tokens = 64;
  options.samples = 3;
  return options;
}

/// Four demonstrations, the first of which is kept aside.
const std::vector<Demonstration>& tiny_lessons() {
  static const std::vector<Demonstration> demonstrations = [] {
    std::vector<Demonstration> made;
    for (std::uint64_t seed = 0; made.size() < 4; ++seed) {
      Demonstration demonstration = make_demonstration({Mode::ride, 4}, seed);
      if (!demonstration.plan.routes.empty()) { made.push_back(std::move(demonstration)); }
    }
    return made;
  }();
  return demonstrations;
}

std::vector<float> copied(std::span<const float> values) { return {values.begin(), values.end()}; }

struct Trial {
  ThreadPool pool{{.num_threads = 1, .on_start = use_one_torch_thread}};
  OracleTrainer trainer;
  std::vector<TrainingReport> reports;

  explicit Trial(const TrainingOptions& options) : trainer(options, tiny_lessons(), pool) {}
  void run() {
    trainer.run([&](const TrainingReport& report) { reports.push_back(report); });
  }
  [[nodiscard]] std::vector<float> weights() { return copied(trainer.model().weights()); }
};

std::string complaint_about(const std::string& path) {
  Trial trial(tiny_training(1, 1));
  try {
    trial.trainer.load_state(path);
  } catch (const Error& error) { return error.what(); }
  return "none";
}

}  // namespace

TEST_CASE("the first step moves weights by the warmed-up rate, whatever the gradient's size") {
  // Adam's first step is rate * sign(gradient); the rate starts at a hundredth.
  for (const double rate : {1e-3, 1e-2}) {
    TrainingOptions options = tiny_training(1, 0);
    options.imitation_rate = rate;
    Trial trial(options);
    const std::vector<float> before = trial.weights();
    trial.run();
    const std::vector<float> after = trial.weights();
    double largest = 0;
    std::size_t moved = 0;
    std::size_t full = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
      const double step = std::abs(double{after[i]} - double{before[i]});
      largest = std::max(largest, step);
      moved += step > 0 ? 1 : 0;
      full += step > 0.9 * rate / 100 ? 1 : 0;
    }
    CHECK(largest / (rate / 100) == doctest::Approx(1).epsilon(0.02));
    CHECK(moved > after.size() / 3);
    CHECK(full > moved * 3 / 4);
  }
}

TEST_CASE("a rate of zero teaches nothing, and the report is on the days kept aside") {
  TrainingOptions options = tiny_training(2, 2);
  options.imitation_rate = 0;
  options.reinforce_rate = 0;
  Trial trial(options);
  const std::vector<float> before = trial.weights();
  trial.run();
  CHECK(trial.weights() == before);

  const Demonstration& aside = tiny_lessons()[0];
  const Instance day = make_case(aside.kind, aside.seed);
  Task task;
  task.load(day, all_requests(day));
  const Task* pointer = &task;
  Planner planner(pack(trial.trainer.model()));
  planner.encode({&pointer, 1});
  Construction plan;
  planner.construct(0, plan);
  Plan routes;
  plan.store(routes);
  const double gap =
      plan.done() ? double(cost_of(day, routes)) / double(cost_of(day, aside.plan)) - 1 : 0;
  REQUIRE(trial.reports.size() == 2);
  for (const TrainingReport& report : trial.reports) {
    CHECK(report.ride_gap == doctest::Approx(gap));
    CHECK(report.deliver_gap == 0);
    CHECK(report.dead_ends == (plan.done() ? 0 : 1));
  }
  CHECK(std::string(trial.reports[0].phase) == "imitate");
  CHECK(trial.reports[0].loss > 0);
  CHECK(trial.reports[0].mean_cost == 0);
  CHECK(std::string(trial.reports[1].phase) == "reinforce");
  CHECK(trial.reports[1].loss == 0);
  CHECK(trial.reports[1].mean_cost > 0);
}

TEST_CASE("lines come after so many steps, and at the end of a phase once") {
  TrainingOptions options = tiny_training(5, 4);
  options.report_steps = 2;
  Trial trial(options);
  trial.run();
  std::vector<std::string> told;
  for (const TrainingReport& report : trial.reports) {
    told.push_back(report.phase + std::string(" ") + std::to_string(report.step));
  }
  CHECK(told == std::vector<std::string>{"imitate 2", "imitate 4", "imitate 5", "reinforce 2",
                                         "reinforce 4"});
  CHECK(trial.trainer.imitation_steps() == 5);
  CHECK(trial.trainer.reinforce_steps() == 4);
}

TEST_CASE("a state file has weights, both moments and the counters") {
  const StateFile file;
  Trial trial(tiny_training(2, 1));
  trial.run();
  trial.trainer.save_state(file.path);
  const Safetensors stored = Safetensors::read(file.path);
  REQUIRE(stored.tensors().size() == 3);
  const auto floats = [&](const char* name) {
    const TensorView& view = stored.at(name);
    return std::span(reinterpret_cast<const float*>(view.data.data()),
                     view.data.size() / sizeof(float));
  };
  CHECK(std::ranges::equal(floats("weights"), trial.trainer.model().weights()));
  CHECK(floats("exp_avg").size() == floats("weights").size());
  CHECK(std::ranges::all_of(floats("exp_avg_sq"), [](float x) { return x >= 0; }));
  CHECK(std::ranges::any_of(floats("exp_avg"), [](float x) { return x < 0; }));
  CHECK(stored.metadata().at("imitated") == "2");
  CHECK(stored.metadata().at("reinforced") == "1");
}

TEST_CASE("what is done is not done again after loading") {
  const StateFile file;
  Trial first(tiny_training(2, 1));
  first.run();
  first.trainer.save_state(file.path);

  Trial second(tiny_training(2, 1));
  CHECK(second.weights() != first.weights());
  second.trainer.load_state(file.path);
  CHECK(second.weights() == first.weights());
  CHECK(second.trainer.imitation_steps() == 2);
  CHECK(second.trainer.reinforce_steps() == 1);
  second.run();
  CHECK(second.reports.empty());
  CHECK(second.weights() == first.weights());
}

TEST_CASE("a state of something else is refused, and the remedy named") {
  const StateFile file;
  Trial trial(tiny_training(1, 1));
  const std::vector<float> weights = trial.weights();
  const auto size = static_cast<std::int64_t>(weights.size());
  const auto view = [&](const char* name, Dtype dtype = Dtype::f32) {
    return TensorView{name, dtype, {size}, std::as_bytes(std::span(weights))};
  };
  const std::map<std::string, std::string> counters = {{"imitated", "1"}, {"reinforced", "0"}};
  const auto complaint = [&](const std::vector<TensorView>& tensors,
                             const std::map<std::string, std::string>& metadata) {
    save_safetensors(file.path, tensors, metadata);
    return complaint_about(file.path);
  };
  CHECK(complaint({view("weights"), view("exp_avg"), view("exp_avg_sq")}, counters) == "none");
  CHECK(complaint({view("weights"), view("exp_avg"), view("exp_avg_sq")}, {{"imitated", "1"}}) ==
        file.path + ": not the state of a training; train without --resume");
  CHECK(complaint({view("weights"), view("exp_avg"), view("exp_avg_sq", Dtype::i32)}, counters) ==
        file.path + ": the network has another size; train without --resume");
  CHECK(complaint({view("weights"), view("exp_avg")}, counters).find("exp_avg_sq") !=
        std::string::npos);
  trial.trainer.model().save(file.path);  // a model is not a training's state
  CHECK(complaint_about(file.path).find("weights") != std::string::npos);
  CHECK(complaint_about("/nowhere/state").find("/nowhere/state") != std::string::npos);
}
