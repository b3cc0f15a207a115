#include "penstock/envs/classic/classic.h"

#include "penstock/core/env/batched_env.h"
#include "penstock/envs/classic/acrobot.h"
#include "penstock/envs/classic/cartpole.h"
#include "penstock/envs/classic/load.h"
#include "penstock/envs/classic/mountain_car.h"
#include "penstock/envs/classic/pendulum.h"
#include "penstock/envs/classic/toys.h"

namespace penstock {

std::vector<EnvEntry> classic_envs() {
  return {
      env_entry<CartPole>("cartpole", "CartPole-v1: balance a pole on a cart"),
      env_entry<Acrobot>("acrobot", "Acrobot-v1: swing a two-link arm above the bar"),
      env_entry<MountainCar>("mountain_car", "MountainCar-v0: rock a weak car out of a valley"),
      env_entry<Pendulum>("pendulum", "Pendulum-v1: swing up and hold, continuous torque"),
      env_entry<IdentityEnv>("identity", "toy: name the class shown"),
      env_entry<BanditEnv>("bandit", "toy: one pull of one of several arms"),
      env_entry<MaskedEnv>("masked", "toy: the legal one of two marked actions"),
      env_entry<MultiEnv>("multi", "toy: copy three digits at once, masked"),
      env_entry<ReachEnv>("reach", "toy: move a point to a target, continuous"),
      env_entry<LoadEnv>("load", "toy: a step that computes or waits, for measuring"),
  };
}

}  // namespace penstock
