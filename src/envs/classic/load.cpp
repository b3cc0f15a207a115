#include "penstock/envs/classic/load.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <ctime>
#include <thread>

#include "penstock/core/base/random.h"

namespace penstock {
namespace {

constexpr std::int32_t kLength = 100;

/// CPU time, not time: on a full machine a step takes longer, as real ones do.
double thread_us() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

}  // namespace

EnvSpec LoadEnv::spec() const {
  EnvSpec spec{Layout(4), Discrete{2}};
  spec.max_episode_steps = kLength;
  return spec;
}

void LoadEnv::reset(std::uint64_t seed, Row row) {
  steps_ = 0;
  mark_ = static_cast<float>(Random(seed).uniform());
  std::ranges::fill(row.obs, 0.0F);
  row.obs.back() = mark_;
}

/// How many times as long as the others the step takes.
double LoadEnv::times() const {
  if (config_.long_every == 0) { return 1; }
  Random random(std::bit_cast<std::uint32_t>(mark_) + static_cast<std::uint64_t>(steps_));
  return random.uniform() * static_cast<double>(config_.long_every) < 1 ? config_.long_times : 1;
}

Outcome LoadEnv::step(std::int64_t action, Row row) {
  const double factor = times();
  if (config_.busy_us > 0) {
    for (const double end = thread_us() + config_.busy_us * factor; thread_us() < end;) {}
  }
  if (config_.wait_us > 0) {
    std::this_thread::sleep_for(
        std::chrono::duration<double, std::micro>(config_.wait_us * factor));
  }
  ++steps_;
  std::ranges::fill(row.obs, 0.0F);
  row.obs[action] = static_cast<float>(steps_) / kLength;
  row.obs.back() = mark_;
  return {.reward = 1};
}

}  // namespace penstock
