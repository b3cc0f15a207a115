#include "penstock/domains/booking/neural/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <tuple>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/core/fused/adam.h"
#include "penstock/domains/booking/neural/features.h"
#include "penstock/domains/booking/neural/planner.h"
#include "penstock/domains/booking/neural/train/training_batch.h"
#include "penstock/domains/booking/routing/checker.h"

namespace penstock::booking {
namespace {

constexpr std::size_t kShards = 2;
constexpr std::size_t kAside = 64;  // every so many-th demonstration is for validation
constexpr std::int64_t kWarmUp = 100;
constexpr double kMaxNorm = 1;
constexpr double kLastRate = 0.03;  // of the first
constexpr std::uint32_t kBatchOwner = 0x62617463;
constexpr std::uint32_t kSampleOwner = 0x73616d70;

bool before(const Demonstration& a, const Demonstration& b) {
  const auto key = [](const Demonstration& x) { return std::tuple(x.kind.mode, x.kind.requests); };
  return key(a) < key(b);
}

/// A day that a task can point to.
struct Day {
  Instance instance;
  Task task;

  explicit Day(const Demonstration& demonstration)
      : instance(make_case(demonstration.kind, demonstration.seed)) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(instance.num_requests()));
    std::iota(all.begin(), all.end(), 0);
    task.load(instance, all);
  }
};

/// Weighs sampled plans against each other: how much cheaper than the mean, in units of their
/// spread. A dead end costs a fifth more than the worst plan.
void weigh(std::vector<Sequence>& sequences, std::vector<double>& costs) {
  const double worst = *std::ranges::max_element(costs);
  for (double& cost : costs) {
    if (cost < 0) { cost = 1.2 * worst; }
  }
  const double count = costs.size();
  const double mean = std::accumulate(costs.begin(), costs.end(), 0.0) / count;
  double squares = 0;
  for (const double cost : costs) { squares += (cost - mean) * (cost - mean); }
  const double spread = std::sqrt(squares / count);
  for (std::size_t i = 0; i < costs.size(); ++i) {
    sequences[i].weight = spread > 0 ? (mean - costs[i]) / spread : 0;
  }
}

/// Plans of a day, weighed; a cost of 0 when all of them met dead ends.
struct Sampled {
  BatchTask task;
  double mean_cost = 0;
};

Sampled sample(const Task& task, Planner& planner, std::int64_t count, Random& random) {
  Sampled sampled;
  sampled.task.task = &task;
  sampled.task.flip = random.below(kFlips);
  const Task* pointer = &task;
  planner.encode({&pointer, 1}, sampled.task.flip);
  Construction plan;
  Plan routes;
  std::vector<double> costs;
  for (std::int64_t s = 0; s < count; ++s) {
    planner.construct(0, plan, &random);
    plan.store(routes);
    sampled.task.sequences.push_back({{plan.taken().begin(), plan.taken().end()}, 0});
    costs.push_back(plan.done() ? cost_of(task.instance(), routes) : -1);
  }
  if (*std::ranges::max_element(costs) < 0) { return sampled; }
  weigh(sampled.task.sequences, costs);
  sampled.mean_cost = std::accumulate(costs.begin(), costs.end(), 0.0) / count;
  return sampled;
}

}  // namespace

OracleTrainer::OracleTrainer(const TrainingOptions& options,
                             std::vector<Demonstration> demonstrations, ThreadPool& pool)
    : options_(options), pool_(pool), model_(options.shape, options.seed) {
  if (demonstrations.size() < 2) {
    throw UsageError(fmt::format(
        "{} lessons are too few to learn from: at least 2 are needed, as one is kept for "
        "validation; use --lessons 1000 or more",
        demonstrations.size()));
  }
  for (std::size_t i = 0; i < demonstrations.size(); ++i) {
    (i % kAside == 0 ? kept_aside_ : demonstrations_).push_back(std::move(demonstrations[i]));
  }
  std::ranges::stable_sort(demonstrations_, before);
  for (std::size_t i = 0; i < demonstrations_.size(); ++i) {
    if (i == 0 || demonstrations_[i].kind != demonstrations_[i - 1].kind) { begin_.push_back(i); }
  }
  begin_.push_back(demonstrations_.size());
  const std::size_t size = model_.weights().size();
  exp_avg_ = fused::AlignedFloats(size);
  exp_avg_sq_ = fused::AlignedFloats(size);
  for (std::size_t s = 0; s < kShards; ++s) {
    gradients_.emplace_back(size);
    networks_.emplace_back(model_, std::span<float>(gradients_[s].data(), size));
  }
}

double OracleTrainer::Clock::progress(std::int64_t step) const {
  if (length.steps > 0) { return static_cast<double>(step) / length.steps; }
  return length.minutes > 0 ? watch.seconds() / (60 * length.minutes) : 1;
}

std::size_t OracleTrainer::batch_size(const CaseKind& kind) const {
  const std::int64_t tokens = 1 + kind.requests * (kind.mode == Mode::ride ? 2 : 1);
  return std::clamp<std::int64_t>(options_.batch_tokens / tokens, 8, 128);
}

/// Demonstrations of one kind, which is drawn by how many there are of it.
OracleTrainer::Batch OracleTrainer::draw_batch(std::int64_t step) {
  Random random(
      {.seed = options_.seed, .owner = kBatchOwner, .episode = static_cast<std::uint64_t>(step)});
  const std::size_t any = random.below(static_cast<std::uint32_t>(demonstrations_.size()));
  const auto end = std::ranges::upper_bound(begin_, any);
  const std::size_t first = *(end - 1);
  const auto count = static_cast<std::uint32_t>(*end - first);
  Batch batch(batch_size(demonstrations_[any].kind));
  for (const Demonstration*& demonstration : batch) {
    demonstration = &demonstrations_[first + random.below(count)];
  }
  return batch;
}

double OracleTrainer::imitate(std::int64_t step) {
  const Batch batch = draw_batch(step);
  std::vector<double> losses(kShards);
  std::vector<double> decisions(kShards);
  const double stops = 2.0 * batch.size() * batch[0]->kind.requests;
  pool_.run(kShards, [&](std::size_t shard) {
    Random random({.seed = options_.seed,
                   .owner = kSampleOwner + static_cast<std::uint32_t>(shard),
                   .episode = static_cast<std::uint64_t>(step)});
    std::vector<Day> days;
    std::vector<BatchTask> tasks;
    days.reserve(batch.size());
    for (std::size_t i = shard; i < batch.size(); i += kShards) {
      const Day& day = days.emplace_back(*batch[i]);
      // One in sixteen is planned without a map.
      const std::uint32_t flip = random.below(2 * kFlips);
      const std::int32_t turned = flip % kFlips;
      const bool blind = flip == 0 && random.below(2) == 0;
      tasks.push_back({&day.task, {sequence_of(day.task, batch[i]->plan)}, blind ? -1 : turned});
    }
    std::fill_n(gradients_[shard].data(), gradients_[shard].size(), 0.0F);
    if (tasks.empty()) { return; }
    const TrainingBatch part = make_training_batch(tasks);
    for (const float weight : part.weight) { decisions[shard] += weight; }
    losses[shard] = networks_[shard].add_gradient(part, 1 / stops);
  });
  const double loss = std::accumulate(losses.begin(), losses.end(), 0.0);
  return loss * stops / std::accumulate(decisions.begin(), decisions.end(), 0.0);
}

double OracleTrainer::reinforce(std::int64_t step) {
  const Batch batch = draw_batch(step);
  const auto packed = pack(model_);
  std::vector<double> costs(kShards);
  const double scale = 1.0 / (2.0 * batch.size() * batch[0]->kind.requests * options_.samples);
  pool_.run(kShards, [&](std::size_t shard) {
    Planner planner(packed);
    std::vector<Day> days;
    std::vector<BatchTask> tasks;
    days.reserve(batch.size());
    for (std::size_t i = shard; i < batch.size(); i += kShards) {
      Random random({.seed = options_.seed,
                     .owner = kSampleOwner + static_cast<std::uint32_t>(i),
                     .episode = static_cast<std::uint64_t>(step)});
      const Day& day = days.emplace_back(*batch[i]);
      Sampled sampled = sample(day.task, planner, options_.samples, random);
      if (sampled.mean_cost == 0) { continue; }
      costs[shard] += sampled.mean_cost / cost_of(day.instance, batch[i]->plan);
      tasks.push_back(std::move(sampled.task));
    }
    std::fill_n(gradients_[shard].data(), gradients_[shard].size(), 0.0F);
    if (tasks.empty()) { return; }
    networks_[shard].add_gradient(make_training_batch(tasks), scale);
  });
  return std::accumulate(costs.begin(), costs.end(), 0.0) / batch.size();
}

/// Sums the shards' gradients in their order, clips, and moves the weights.
void OracleTrainer::learn(double rate) {
  const std::size_t size = model_.weights().size();
  float* sum = gradients_[0].data();
  for (std::size_t s = 1; s < kShards; ++s) { fused::add(sum, gradients_[s].data(), size); }
  const double norm = std::sqrt(static_cast<double>(fused::sum_of_squares(sum, size)));
  if (!std::isfinite(norm)) { return; }
  const double steps = imitated_ + reinforced_ + 1;
  const double beta1 = 0.9;
  const double beta2 = 0.98;
  fused::adam_step(
      {.weight = model_.weights().data(),
       .gradient = sum,
       .exp_avg = exp_avg_.data(),
       .exp_avg_sq = exp_avg_sq_.data(),
       .n = size,
       .scale = static_cast<float>(std::min(1.0, kMaxNorm / (norm + 1e-9))),
       .beta1 = static_cast<float>(beta1),
       .one_minus_beta1 = static_cast<float>(1 - beta1),
       .beta2 = static_cast<float>(beta2),
       .one_minus_beta2 = static_cast<float>(1 - beta2),
       .epsilon = 1e-8F,
       .step_size = static_cast<float>(rate / (1 - std::pow(beta1, steps))),
       .inverse_root_correction2 = static_cast<float>(1 / std::sqrt(1 - std::pow(beta2, steps)))});
}

void OracleTrainer::add_validation(TrainingReport& report) {
  const auto packed = pack(model_);
  struct Found {
    double gap = 0;
    bool complete = false;
  };
  std::vector<Found> found(kept_aside_.size());
  pool_.run(kShards, [&](std::size_t shard) {
    Planner planner(packed);
    Construction plan;
    Plan routes;
    for (std::size_t i = shard; i < kept_aside_.size(); i += kShards) {
      const Day day(kept_aside_[i]);
      const Task* task = &day.task;
      planner.encode({&task, 1});
      planner.construct(0, plan);
      if (!plan.done()) { continue; }
      plan.store(routes);
      found[i] = {static_cast<double>(cost_of(day.instance, routes)) /
                          cost_of(day.instance, kept_aside_[i].plan) -
                      1,
                  true};
    }
  });
  double sums[2] = {0, 0};
  double counts[2] = {0, 0};
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i].complete) {
      report.dead_ends += 1.0 / found.size();
      continue;
    }
    const std::size_t mode = kept_aside_[i].kind.mode == Mode::ride ? 0 : 1;
    sums[mode] += found[i].gap;
    counts[mode] += 1;
  }
  report.ride_gap = sums[0] / std::max(1.0, counts[0]);
  report.deliver_gap = sums[1] / std::max(1.0, counts[1]);
}

void OracleTrainer::run_phase(const char* name, const PhaseLength& length, std::int64_t& steps,
                              bool imitates,
                              const std::function<void(const TrainingReport&)>& report) {
  const Clock clock{length, {}};
  const double first = imitates ? options_.imitation_rate : options_.reinforce_rate;
  double sum = 0;
  std::int64_t summed = 0;
  double next_report = options_.report_minutes * 60;
  const auto tell = [&] {
    const double mean = summed > 0 ? sum / summed : 0;
    TrainingReport line{.phase = name, .step = steps, .minutes = clock.watch.seconds() / 60};
    (imitates ? line.loss : line.mean_cost) = mean;
    add_validation(line);
    report(line);
    sum = 0;
    summed = 0;
  };
  while (clock.progress(steps) < 1) {
    const double progress = clock.progress(steps);
    const double warm = std::min(1.0, static_cast<double>(steps + 1) / kWarmUp);
    const double cosine = 0.5 * (1 + std::cos(std::numbers::pi * progress));
    const std::int64_t number = imitated_ + reinforced_;
    sum += imitates ? imitate(number) : reinforce(number);
    learn(first * warm * (kLastRate + (1 - kLastRate) * cosine));
    ++summed;
    ++steps;
    const bool due = length.steps > 0 ? steps % options_.report_steps == 0
                                      : clock.watch.seconds() >= next_report;
    if (due && clock.progress(steps) < 1) {
      tell();
      next_report = clock.watch.seconds() + options_.report_minutes * 60;
    }
  }
  if (summed > 0) { tell(); }
}

void OracleTrainer::run(const std::function<void(const TrainingReport&)>& report) {
  run_phase("imitate", options_.imitate, imitated_, true, report);
  run_phase("reinforce", options_.reinforce, reinforced_, false, report);
}

}  // namespace penstock::booking
