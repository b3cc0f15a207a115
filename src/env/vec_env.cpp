#include "penstock/env/vec_env.h"

#include <stdexcept>

namespace penstock {

void VecEnv::start_step(EnvRange, ActionRows) {
  throw std::logic_error("start_step: this env is not asynchronous");
}

void VecEnv::finish_step(EnvRange, ObsRows, OutcomeRows) {
  throw std::logic_error("finish_step: this env is not asynchronous");
}

}  // namespace penstock
