#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "penstock/envs/python/process_env.h"

namespace penstock {

/// What the parent knows of an env. Touched by the thread that steps it.
struct ProcessEnv::Slot {
  std::uint64_t base_seed = 0;
  std::uint64_t next_episode = 0;
  std::uint64_t episode = 0;  // the one in progress
  std::int64_t steps = 0;
  double total_reward = 0;
  bool begun = false;    // there is an episode in progress
  bool lost = false;     // it cannot go on: a reset was ordered in place of the step
  bool behind = false;   // loaded, but its env has not been brought there yet
  bool complete = true;  // the actions below are all of the episode
  std::vector<std::int64_t> choices;
  std::vector<float> points;
  std::vector<float> seen;     // once loaded: the row to act on when it was saved; empty: unknown
  std::string own_state;       // likewise: what the env said; empty: nothing
  double repeated_reward = 0;  // likewise: of the actions that were taken again

  template <class Archive>
  void state(Archive& archive) {
    archive(next_episode, episode, steps, total_reward, begun, complete, choices, points);
  }

  /// Episode 0 has the env's seed itself, as Gymnasium's users expect; later ones follow from it.
  [[nodiscard]] std::uint64_t seed_of(std::uint64_t number) const;
  void start(std::uint64_t number);
  void remember(std::span<const std::int64_t> choice, std::span<const float> point);
};

/// What the parent knows of a worker.
struct ProcessEnv::Worker {
  std::mutex mutex;  // whoever finds it in trouble
  Process process;
  std::atomic<std::uint32_t> generation{0};
  std::atomic<bool> answered{false};  // since it was started
};

}  // namespace penstock
