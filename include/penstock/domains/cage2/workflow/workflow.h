#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "penstock/core/base/config.h"
#include "penstock/core/base/moments.h"
#include "penstock/domains/cage2/sim/workflow_job.h"

namespace penstock::cage2 {

/// What a job's run has beside the job.
struct WorkflowRunOptions {
  Settings changes = {};  // of keys of its config
  std::string dir = {};   // where it stays, for `penstock eval` and the rest; empty: nowhere
};

/// A run that ends when the average compliance reaches the threshold or the episodes are used up,
/// and its evaluation. Where a change sets env.mask = order or env.constraint, which bring
/// compliance about before the return, it does not end while returns rise. A function of the job
/// and the changes; threads do not change results. Throws ConfigError, or IoError when `dir` holds
/// a run already. Thread safety: calls may run at the same time.
WorkflowResult train_workflow(const WorkflowJob& job, const WorkflowRunOptions& options = {});

/// The run's config for a job: what recipes/cage2-workflow.toml holds, with the job's values.
Settings workflow_settings(const WorkflowJob& job);

/// Whether the returns of training still rise: those of the last kWindow rollouts have a mean above
/// that of the kWindow before by more than a standard error of the difference.
/// Not thread-safe.
class ReturnTrend {
 public:
  /// The game's returns of a rollout's episodes.
  void add(const Moments& returns);
  /// Also while there are fewer than 2 kWindow rollouts.
  [[nodiscard]] bool rising() const;

  static constexpr std::size_t kWindow = 5;

 private:
  std::deque<Moments> last_;  // of a rollout each, up to 2 kWindow
};

/// The average compliance: over envs, the mean of each env's last episodes.
/// Not thread-safe.
class AverageCompliance {
 public:
  explicit AverageCompliance(std::size_t num_envs, std::int64_t min_episodes = 10)
      : envs_(num_envs), min_episodes_(min_episodes) {}

  /// An episode of an env has ended.
  void add(std::size_t env, double compliance, std::int64_t num_fixes);
  /// 0.5 before the first episode.
  [[nodiscard]] double average() const;
  /// Of each env; 0.5 before its first episode.
  [[nodiscard]] std::vector<double> per_env() const;
  /// At the threshold, after enough episodes of every env and enough fixes.
  [[nodiscard]] bool reached(double threshold) const;
  [[nodiscard]] std::int64_t num_episodes() const;

  static constexpr std::size_t kWindow = 5;
  static constexpr std::int64_t kMinFixes = 10;  // of all

 private:
  struct History {
    std::deque<double> last;  // up to kWindow
    std::int64_t num_episodes = 0;

    [[nodiscard]] double mean() const;
  };

  std::vector<History> envs_;
  std::int64_t min_episodes_;  // of every env
  std::int64_t num_fixes_ = 0;
};

}  // namespace penstock::cage2
