#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "penstock/domains/cage2/sim/workflow.h"

namespace penstock::cage2 {

/// One policy to train for one order of repairs.
/// A value; equal jobs give equal results, whatever `threads` is.
struct WorkflowJob {
  Order order{0, 1, 2, 3, 4};
  std::string red = "bline";   // as env.red
  std::string rules = "head";  // as env.rules
  int n_envs = 25;
  int train_episodes_per_env = 50;     // at most; training ends when it complies
  double compliance_threshold = 0.95;  // of the running average
  int min_episodes_per_env = 10;       // before training may end early
  int update_every_steps = 100;        // of every env; an episode has 100
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

/// Numbers of one trained policy. Without evaluation, what it measures stays 0.
struct WorkflowResult {
  Order order;
  double mean_return;  // of the game alone, by the trained policy as it acts in training
  double std_error;
  double compliance;                   // the running average when training ended
  std::vector<double> env_compliance;  // of each env, the mean of its last episodes
  bool compliant;                      // it is at the threshold
  bool stopped_early;
  std::int64_t episodes;
  std::int64_t steps;
  double seconds;  // of training, evaluation aside
  std::vector<CurvePoint> curve;
  std::string digest;  // of the weights
  // Means of the evaluation's episodes.
  double eval_compliance;
  double lost_compliance;  // over fixes of hosts that were lost when they were fixed
  double fixes;
  double worth;  // the return with what the order earns: what was trained for
};

}  // namespace penstock::cage2
