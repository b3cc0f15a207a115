#include "penstock/env/vec_env.h"

#include <stdexcept>

#include "penstock/base/errors.h"

namespace penstock {

void VecEnv::start_step(EnvRange, ActionRows) {
  throw std::logic_error("start_step: this env is not asynchronous");
}

void VecEnv::finish_step(EnvRange, ObsRows, OutcomeRows) {
  throw std::logic_error("finish_step: this env is not asynchronous");
}

void VecEnv::load_shared(std::span<const std::byte> bytes) {
  if (!bytes.empty()) { throw DataError("env state: these envs share nothing"); }
}

}  // namespace penstock
