#include "penstock/domains/cage2/sim/cage2.h"

#include "penstock/core/env/batched_env.h"
#include "penstock/domains/cage2/sim/defender.h"
#include "penstock/domains/cage2/sim/simulator.h"
#include "penstock/domains/cage2/sim/workflow.h"

namespace penstock {

std::vector<EnvEntry> cage2_envs() {
  return {env_entry<cage2::Simulator>(
              "cage2", "CAGE Challenge 2: defend a network of 13 hosts against an attacker"),
          env_entry<cage2::WorkflowEnv>(
              "cage2_workflow", "the same, where repairs should follow an order of host types"),
          env_entry<cage2::DefenderEnv>(
              "cage2_defender",
              "the same for the leader board: 45 actions worth having, and a memory")};
}

}  // namespace penstock
