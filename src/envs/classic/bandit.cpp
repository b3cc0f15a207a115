#include "penstock/envs/classic/bandit.h"

#include <cstdlib>

namespace penstock {

void BanditEnv::reset(std::uint64_t seed, Row row) {
  random_ = Random(seed);
  row.obs[0] = 1;
}

Outcome BanditEnv::step(std::int64_t action, Row row) {
  row.obs[0] = 1;
  const double reward = mean(action) + config_.noise * random_.normal();
  return {.reward = static_cast<float>(reward), .terminated = true};
}

double BanditEnv::mean(std::int64_t arm) const {
  const double distance = std::abs(arm - best_arm());
  return 1 - distance / config_.num_arms;
}

}  // namespace penstock
