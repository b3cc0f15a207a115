#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "penstock/base/config.h"
#include "penstock/cage2/workflow.h"

namespace penstock::cage2 {

/// One policy to train for one order of repairs.
struct WorkflowJob {
  Order order{0, 1, 2, 3, 4};
  std::string red = "bline";
  std::string rules = "head";
  int n_envs = 25;
  int train_episodes_per_env = 50;
  double compliance_threshold = 0.95;
  int update_every_steps = 100;
  char compliance_rule = 'B';
  bool conditioned = true;  // false: neither the order in the observation nor its reward
  int eval_episodes = 100;
  std::uint64_t seed = 0;
  int threads = 1;
};

/// Where training stood after a rollout.
struct CurvePoint {
  std::int64_t steps;
  double reward;      // the game's own return, mean of the rollout's episodes
  double compliance;  // the running average
};

struct WorkflowResult {
  Order order;
  double mean_return;  // of the game alone, by the trained policy as it acts in training
  double std_error;
  double compliance;  // the running average when training ended
  bool compliant;     // it is at the threshold
  bool stopped_early;
  std::int64_t episodes;
  std::int64_t steps;
  double seconds;  // of training, evaluation aside
  std::vector<CurvePoint> curve;
  std::string digest;      // of the weights
  double eval_compliance;  // mean of the evaluation's episodes
};

/// Trains until the average compliance reaches the threshold or the episodes are used up, then
/// evaluates. A function of the job; threads do not change results. Throws ConfigError.
/// Thread safety: calls may run at the same time.
WorkflowResult train_workflow(const WorkflowJob& job);
/// With some keys of the run's config changed.
WorkflowResult train_workflow(const WorkflowJob& job, const Settings& changes);

/// The run's config for a job: what recipes/cage2-workflow.toml holds, with the job's values.
Settings workflow_settings(const WorkflowJob& job);

/// The average compliance: over envs, the mean of each env's last episodes.
class AverageCompliance {
 public:
  explicit AverageCompliance(std::size_t num_envs) : envs_(num_envs) {}

  /// An episode of an env has ended.
  void add(std::size_t env, double compliance, std::int64_t num_fixes);
  /// 0.5 before the first episode.
  [[nodiscard]] double average() const;
  /// At the threshold, after enough episodes of every env and enough fixes.
  [[nodiscard]] bool reached(double threshold) const;
  [[nodiscard]] std::int64_t num_episodes() const;

  static constexpr std::size_t kWindow = 5;
  static constexpr std::int64_t kMinEpisodes = 10;  // of every env
  static constexpr std::int64_t kMinFixes = 10;     // of all

 private:
  struct History {
    std::deque<double> last;  // up to kWindow
    std::int64_t num_episodes = 0;
  };

  std::vector<History> envs_;
  std::int64_t num_fixes_ = 0;
};

}  // namespace penstock::cage2
