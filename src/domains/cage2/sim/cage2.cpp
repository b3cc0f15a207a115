#include "penstock/domains/cage2/sim/cage2.h"

#include "domains/cage2/sim/constrained_workflow.h"
#include "penstock/core/env/batched_env.h"
#include "penstock/domains/cage2/sim/defender.h"
#include "penstock/domains/cage2/sim/simulator.h"
#include "penstock/domains/cage2/sim/workflow.h"

namespace penstock {
namespace {

/// With a constraint its envs share a multiplier.
class WorkflowFactory final : public EnvFactory {
 public:
  std::vector<Field> fields() override { return fields_of(config_, "env."); }
  [[nodiscard]] EnvSpec spec() const override { return cage2::WorkflowEnv(config_).spec(); }
  [[nodiscard]] std::unique_ptr<VecEnv> make_slice(EnvSlice slice,
                                                   std::uint64_t seed) const override {
    if (config_.constraint > 0) {
      return std::make_unique<cage2::ConstrainedWorkflow>(config_, slice, seed);
    }
    return std::make_unique<BatchedEnv<cage2::WorkflowEnv>>(config_, slice, seed);
  }

 private:
  cage2::WorkflowEnv::Config config_;
};

}  // namespace

std::vector<EnvEntry> cage2_envs() {
  return {env_entry<cage2::Simulator>(
              "cage2", "CAGE Challenge 2: defend a network of 13 hosts against an attacker"),
          {"cage2_workflow", "the same, where repairs should follow an order of host types",
           [] { return std::make_unique<WorkflowFactory>(); }},
          env_entry<cage2::DefenderEnv>(
              "cage2_defender",
              "the same for the leader board: 45 actions worth having, and a memory")};
}

}  // namespace penstock
