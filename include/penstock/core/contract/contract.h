#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "penstock/core/env/vec_env.h"

namespace penstock {

/// How an env is checked.
struct ContractOptions {
  std::uint64_t seed = 5;
  std::int64_t max_steps = 2000;  // of a trial at most; longer than an episode, so that one ends
  bool seedless = false;          // episodes need not depend on the seed
  std::vector<std::size_t> num_threads = {1, 2, 4};
};

/// Something that every env must keep.
struct Promise {
  std::string text;    // "the same seed gives the same bytes"
  std::string broken;  // where it was not kept: env, seed, step and what was seen; empty: it was
  [[nodiscard]] bool kept() const { return broken.empty(); }
};

/// Checks every promise with random legal actions, through the VecEnv interface, and returns all of
/// them in the order of checking. What a trainer relies on:
///
///  - the parts of the layout tile the row, actions can be drawn
///  - rows and rewards are finite, every choice has a legal alternative
///  - an end reports the sums seen, writes final_obs, and comes no later than max_episode_steps
///  - the same seed gives the same bytes, another seed others
///  - an env saved in mid-episode goes on identically elsewhere, over the ends of episodes
///  - ranges and threads do not matter
///  - bytes too short or too long are refused with DataError
///
/// What an env throws breaks the promise that was being checked. The config of the entry's
/// factories is as make_factory() leaves it; see with_settings() for another.
std::vector<Promise> check_contract(const EnvEntry& entry, const ContractOptions& options = {});

/// The broken promises, a line each; empty when all are kept. In a test of any framework:
///     CHECK(broken_promises(check_contract(env_entry<MyEnv>("my_env", "what it is"))) == "");
std::string broken_promises(const std::vector<Promise>& promises);

}  // namespace penstock
