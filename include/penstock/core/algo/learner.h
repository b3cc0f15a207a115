#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/core/act/action_head.h"
#include "penstock/core/algo/algorithm_entry.h"
#include "penstock/core/base/config.h"
#include "penstock/core/base/metrics.h"
#include "penstock/core/base/thread_pool.h"
#include "penstock/core/nn/policy.h"
#include "penstock/core/peers/peers.h"
#include "penstock/core/rollout/fragment.h"
#include "penstock/core/rollout/shards.h"

namespace penstock {

/// What a learner works with, all of which outlives it. Every learner of a run gets the same.
/// References and numbers: copying it copies no part.
struct LearnerParts {
  Policy& policy;              // whose weights the learner moves
  const ActionHead& head;      // the distribution of the env's actions
  const Shards& shards;        // who owns which envs and samples
  ThreadPool& pool;            // idle between calls of the learner
  Peers& peers;                // alone() in a run of one process
  std::uint64_t seed = 0;      // of what the learner draws: the order of samples
  bool scale_rewards = false;  // by the running deviation of the discounted return
  double clip_reward = 10;     // bound of a scaled reward
};

/// What a checkpoint keeps of a learner beside the policy's weights. Tensors may alias its memory.
/// Names and shapes are those of a fresh learner of the same config.
struct LearnerState {
  struct Entry {
    std::string file;   // of the checkpoint: "optim" or "envs"
    std::string name;   // unique in the state
    at::Tensor tensor;  // clone it to keep it beyond the next update
    /// A row for each env of this process; else it is the same in every process of a run.
    bool by_env = false;
  };
  std::vector<Entry> tensors;
  std::map<std::string, std::int64_t> counters;  // by name: "optimiser_steps"

  /// Throws DataError when there is no such tensor.
  /// By its name, whatever its file.
  [[nodiscard]] const at::Tensor& at(const std::string& name) const;
};

/// Samples that a learner did not learn from, because their loss or its gradient was not finite.
/// Owns its tensors, which are on the CPU.
struct SkippedMinibatch {
  std::int64_t update = 0;     // counted from 1, as train/n_updates
  std::int64_t minibatch = 0;  // of the update, counted from 1
  /// What was learnt from, by name: the rows with their places in the rollout, the targets, the
  /// loss. docs/formats.md lists them.
  std::vector<std::pair<std::string, at::Tensor>> tensors;

  /// Where a run directory keeps it.
  [[nodiscard]] std::string file() const;
};

/// An algorithm: it owns its targets, its optimiser and their state, and moves the policy's
/// weights. Calls come from one thread; what it does on the pool is its own matter.
///
///     auto learner = catalog.algorithm("ppo")->make(parts);
///     const Metrics metrics = learner->update(fragment, 0.25);
///
/// An algorithm of your own derives from it, and from LearnerFactory for its keys.
class Learner {
 public:
  virtual ~Learner() = default;

  /// Learns from a full fragment, whose rewards it may scale in place; `progress` in [0, 1] is the
  /// run's, for schedules. Adds 1 to the policy's version. A gradient that is not finite must not
  /// move the weights; throws Error when there are too many of them. The weights may have moved by
  /// then: go on from a checkpoint.
  virtual Metrics update(Fragment& fragment, double progress) = 0;
  /// What was skipped since the last call, as far as it was kept. Also after update() has thrown.
  virtual std::vector<SkippedMinibatch> take_skipped() { return {}; }

  /// The state as it is. load() takes one of the same names and shapes.
  [[nodiscard]] virtual LearnerState save() const = 0;
  virtual void load(const LearnerState& state) = 0;
};

/// How far sampling may be ahead of learning.
/// 0: they take turns, and every rollout is learnt by the policy that sampled it.
struct AsyncConfig {
  static constexpr std::int64_t kMeasured = -1;
  std::int64_t max_lag = 1;          // updates; kMeasured is auto
  std::int64_t sync_every = 1;       // updates
  std::int64_t sampler_threads = 0;  // 0: as many as `threads`

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(
        "max_lag", max_lag,
        "updates that a rollout's policy is behind when it is learnt from; envs step while the "
        "learner learns. 0: they take turns; auto: 0, or 1 where that measures clearly faster when "
        "the run begins",
        Range{0, 16, true, kMeasured});
    visit("sync_every", sync_every,
          "updates after which samplers take up the newest weights; a rollout's policy is up to "
          "sync_every - 1 updates further behind",
          Range{1, 1000});
    visit("sampler_threads", sampler_threads,
          "threads that step envs, beside those of the learner; auto: as many as `threads`. Never "
          "changes results",
          Range{0, 4096, true});
  }
};

/// Makes learners of one kind; holds the kind's config.
class LearnerFactory {
 public:
  virtual ~LearnerFactory() = default;
  /// The config's keys, under the algorithm's name or that of its kind: "ppo.clip". The first one
  /// says which section they stand in.
  /// The fields point into the factory, which must outlive them.
  virtual std::vector<Field> fields() = 0;
  /// Throws ConfigError for what no field's limits refuse.
  virtual void check() const {}
  /// A learner with a copy of the config as it is now; the factory may go before it.
  [[nodiscard]] virtual std::unique_ptr<Learner> make(const LearnerParts& parts) const = 0;

  /// Samples that one gradient step sees, of an update from `samples`.
  /// At most `samples`; memory is estimated by it.
  [[nodiscard]] virtual std::int64_t minibatch(std::int64_t samples) const = 0;
  /// How its learners run beside the sampler; they then correct for policies that are behind.
  /// The lag is a number: 0 as long as it is open.
  [[nodiscard]] virtual AsyncConfig async() const { return {.max_lag = 0}; }
  /// Whether the lag is to be measured before a run begins.
  [[nodiscard]] virtual bool leaves_lag_open() const { return false; }
  /// Rollouts of rollout.steps that one update learns from.
  [[nodiscard]] virtual std::int64_t rollouts_per_update() const { return 1; }
  /// A learner of the same kind that makes one gradient step of the whole fragment, for warm_up().
  [[nodiscard]] virtual std::unique_ptr<Learner> make_rehearsal(const LearnerParts& parts,
                                                                std::int64_t batch) const = 0;
  /// What looks like a mistake though it is allowed, each with a proposal.
  [[nodiscard]] virtual std::vector<std::string> warnings(std::int64_t /*samples*/) const {
    return {};
  }
};

}  // namespace penstock
