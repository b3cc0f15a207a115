#pragma once
#include "penstock/core/env/batched_env.h"
#include "penstock/domains/cage2/sim/workflow.h"

namespace penstock::cage2 {

/// Envs of cage2_workflow that share the Lagrange multipliers of their constraint, one for each
/// count that it is on: dual ascent, a rollout a step. Each begins at alpha + beta, the slope of
/// the reward that it takes the place of, and after each rollout grows by constraint_rate *
/// (constraint - c), not below 0, c the mean compliance, by its count, of the episodes that ended
/// in the rollout. Fixed during a rollout: neither threads nor processes matter.
class ConstrainedWorkflow final : public VecEnv, private SharedLearner {
 public:
  ConstrainedWorkflow(WorkflowEnv::Config config, EnvSlice slice, std::uint64_t seed);

  [[nodiscard]] const EnvSpec& spec() const override { return envs_.spec(); }
  [[nodiscard]] std::size_t num_envs() const override { return envs_.num_envs(); }
  void seed(std::size_t env, std::uint64_t seed) override { envs_.seed(env, seed); }
  void reset(EnvRange range, ObsRows next) override { envs_.reset(range, next); }
  void step(EnvRange range, ActionRows actions, ObsRows next, OutcomeRows outcome) override;
  void save(std::size_t env, std::vector<std::byte>& out) const override { envs_.save(env, out); }
  void load(std::size_t env, std::span<const std::byte> bytes) override { envs_.load(env, bytes); }
  SharedLearner* shared() override { return this; }

 private:
  /// Of the episodes of one env that ended in this rollout.
  struct Tally {
    double compliance = 0;  // their sum
    double lost_compliance = 0;
    double episodes = 0;
  };

  void between_rollouts(const Join& join) override;
  std::vector<std::pair<std::string, double>> take_metrics() override;
  void begin_evaluation() override {}
  void save(std::vector<std::byte>& out) const override;
  void load(std::span<const std::byte> bytes) override;

  double constraint_;
  double rate_;
  bool on_all_;
  bool on_lost_;
  std::shared_ptr<Multipliers> multipliers_;
  BatchedEnv<WorkflowEnv> envs_;
  std::vector<Tally> tallies_;  // by env
};

}  // namespace penstock::cage2
