#include "penstock/envs/classic/identity.h"

#include <algorithm>

namespace penstock {

void IdentityEnv::reset(std::uint64_t seed, Row row) {
  random_ = Random(seed);
  show_another(row);
}

Outcome IdentityEnv::step(std::int64_t action, Row row) {
  const bool right = action == shown_;
  show_another(row);
  return {.reward = right ? 1.0F : 0.0F};
}

void IdentityEnv::show_another(Row row) {
  shown_ = random_.below(config_.num_classes);
  std::fill(row.obs.begin(), row.obs.end(), 0.0F);
  row.obs[shown_] = 1;
}

}  // namespace penstock
