#include "penstock/domains/booking/neural/train/trainer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "penstock/core/base/errors.h"
#include "penstock/core/train/engine.h"
#include "penstock/domains/booking/neural/train/oracle_report.h"
#include "penstock/domains/booking/routing/checker.h"
#include "support/sanitized.h"
#include "unit/domains/booking/neural/support.h"

using namespace penstock;
using namespace penstock::booking;
using namespace penstock::booking::test;

namespace {

TrainingOptions short_training() {
  TrainingOptions options;
  options.shape = {.layers = 1, .heads = 2, .hidden = 32, .edge_hidden = 16};
  options.imitate.steps = kSanitized ? 4 : 60;
  options.reinforce.steps = 2;
  options.batch_tokens = 128;
  options.samples = 4;
  options.report_steps = kSanitized ? 2 : 20;
  return options;
}

std::vector<Demonstration> few_demonstrations() {
  std::vector<Demonstration> demonstrations;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Demonstration demonstration =
        make_demonstration({seed % 2 == 0 ? Mode::ride : Mode::deliver, 5}, seed);
    if (!demonstration.plan.routes.empty()) { demonstrations.push_back(std::move(demonstration)); }
  }
  return demonstrations;
}

std::string temporary(const char* name) {
  return (std::filesystem::temp_directory_path() / name).string();
}

struct Trained {
  std::vector<TrainingReport> reports;
  std::vector<float> weights;
};

Trained train(const TrainingOptions& options, std::size_t threads, const std::string& resume = "",
              const std::string& keep = "") {
  ThreadPool pool({.num_threads = threads, .on_start = use_one_torch_thread});
  pool.use(threads);
  OracleTrainer trainer(options, few_demonstrations(), pool);
  if (!resume.empty()) { trainer.load_state(resume); }
  Trained done;
  trainer.run([&](const TrainingReport& report) { done.reports.push_back(report); });
  if (!keep.empty()) { trainer.save_state(keep); }
  done.weights.assign(trainer.model().weights().begin(), trainer.model().weights().end());
  return done;
}

}  // namespace

TEST_CASE("a few steps of imitation surprise less and less; threads do not matter") {
  const Trained one = train(short_training(), 1);
  CHECK(one.reports[1].loss < one.reports[0].loss);
  CHECK(std::string(one.reports.back().phase) == "reinforce");
  CHECK(one.reports.back().mean_cost > 1);
  CHECK(one.weights == train(short_training(), 2).weights);
}

TEST_CASE("a training goes on from its state with the same bits" * doctest::skip(kSanitized)) {
  TrainingOptions options = short_training();
  const Trained whole = train(options, 1);
  const std::string state = temporary("penstock_trainer_test.state");
  TrainingOptions part = options;
  part.reinforce.steps = 0;
  train(part, 1, "", state);
  CHECK(train(options, 1, state).weights == whole.weights);
  options.shape.heads = 4;
  CHECK_THROWS_AS(train(options, 1, state), DataError);
  std::filesystem::remove(state);
}

TEST_CASE("demonstrations are feasible plans, and come back from their file") {
  const std::vector<Demonstration> demonstrations = few_demonstrations();
  CHECK(demonstrations.size() > 30);
  for (const Demonstration& demonstration : demonstrations) {
    const Instance day = make_case(demonstration.kind, demonstration.seed);
    CHECK_FALSE(find_violation(day, demonstration.plan, all_requests(day)));
  }
  const std::string path = temporary("penstock_lessons_test.txt");
  save_demonstrations(path, demonstrations);
  const std::vector<Demonstration> back = load_demonstrations(path);
  REQUIRE(back.size() == demonstrations.size());
  for (std::size_t i = 0; i < back.size(); ++i) {
    CHECK(back[i].kind == demonstrations[i].kind);
    CHECK(back[i].seed == demonstrations[i].seed);
    CHECK(back[i].plan == demonstrations[i].plan);
  }
  std::ofstream(path) << "nonsense\n";
  CHECK_THROWS_AS(load_demonstrations(path), DataError);
  std::filesystem::remove(path);
}

TEST_CASE("one demonstration, which would be kept aside, is refused with a sentence") {
  ThreadPool pool({.num_threads = 1});
  std::vector<Demonstration> demonstrations = few_demonstrations();
  demonstrations.resize(1);
  CHECK_THROWS_WITH_AS(OracleTrainer(short_training(), demonstrations, pool),
                       doctest::Contains("at least 2"), UsageError);
  CHECK_THROWS_WITH_AS(OracleTrainer(short_training(), {}, pool), doctest::Contains("0 lessons"),
                       UsageError);
}

TEST_CASE("rank correlation, with ties") {
  CHECK(rank_correlation({1, 2, 3, 4}, {10, 20, 30, 40}) == doctest::Approx(1));
  CHECK(rank_correlation({1, 2, 3, 4}, {4, 3, 2, 1}) == doctest::Approx(-1));
  CHECK(rank_correlation({1, 1, 1}, {1, 2, 3}) == 0);
  // scipy.stats.spearmanr([1, 2, 2, 3, 5], [2, 1, 4, 4, 3]).statistic
  CHECK(rank_correlation({1, 2, 2, 3, 5}, {2, 1, 4, 4, 3}) ==
        doctest::Approx(0.394737).epsilon(1e-5));
}

TEST_CASE("a report on a small network" * doctest::skip(kSanitized)) {
  ThreadPool pool({.num_threads = 2});
  pool.use(2);
  const auto model = pack(small_model());
  const OracleReportOptions options{.sizes = {4}, .days = 3, .questions = 2, .seconds = 0};
  const OracleReport report = report_oracle(model, pool, options);
  REQUIRE(report.sizes.size() == 2);
  CHECK(report.sizes[0].feasible == doctest::Approx(1));
  CHECK(report.sizes[0].gap >= report.sizes[0].gap_of_eight);
  CHECK(report.ranks[0].other_seed > 0);
  CHECK(report.json() == report_oracle(model, pool, options).json());
}
