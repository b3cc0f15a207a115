#include "core/train/sampling_parts.h"

#include "penstock/core/algo/learner.h"
#include "penstock/core/base/errors.h"

namespace penstock::detail {

std::vector<std::unique_ptr<Actor>> make_actors(const std::shared_ptr<const PolicyModel>& model,
                                                const Shards& shards) {
  std::vector<std::unique_ptr<Actor>> actors;
  for (std::size_t s = 0; s < shards.count(); ++s) { actors.push_back(make_actor(model)); }
  return actors;
}

void require_remote(const RunPlan& plan, VecEnv& envs) {
  const RunConfig& config = plan.config();
  if (plan.algorithm().async().max_lag < 1) {  // auto is none either
    throw ConfigError(
        "samplers in other processes are always a little behind the learner: use --algo appo or "
        "impala with async.max_lag = 1 or more");
  }
  if (config.normalise.obs || config.normalise.reward) {
    throw ConfigError(
        "normalise.obs and normalise.reward need all envs in step, which samplers in other "
        "processes are not: leave them out, and scale in the env");
  }
  if (envs.shared() != nullptr) {
    throw ConfigError(
        "the envs of this run learn something together between rollouts, which samplers in other "
        "processes cannot: train them in one process, or by penstock launch");
  }
}

}  // namespace penstock::detail
