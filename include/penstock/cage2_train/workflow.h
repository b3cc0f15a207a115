#pragma once
// Replaced at the merge by the header of the module that trains; the same names and fields.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace penstock::cage2 {

using Order =
    std::array<int, 5>;  // types by priority: 0 defender 1 enterprise 2 op_server 3 op_host 4 user

struct WorkflowJob {
  Order order{0, 1, 2, 3, 4};
  std::string red = "bline";
  std::string rules = "head";
  int n_envs = 25;
  int train_episodes_per_env = 50;
  double compliance_threshold = 0.95;
  int update_every_steps = 100;
  char compliance_rule = 'B';
  bool conditioned = true;
  int eval_episodes = 100;
  std::uint64_t seed = 0;
  int threads = 1;
};

struct CurvePoint {
  std::int64_t steps;
  double reward;
  double compliance;
};

struct WorkflowResult {
  Order order;
  double mean_return;
  double std_error;
  double compliance;
  bool compliant;
  bool stopped_early;
  std::int64_t episodes;
  std::int64_t steps;
  double seconds;
  std::vector<CurvePoint> curve;
  std::string digest;
};

WorkflowResult train_workflow(const WorkflowJob& job);

}  // namespace penstock::cage2
