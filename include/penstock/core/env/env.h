#pragma once
#include <concepts>
#include <cstdint>
#include <span>

#include "penstock/core/base/archive.h"
#include "penstock/core/base/config.h"
#include "penstock/core/env/spec.h"

namespace penstock {

/// One env's slice of a fragment, lent for one call.
/// It must not be kept: the next step has another.
struct Row {
  std::span<float> obs = {};  // [obs_size]
  /// [num_actions], true where the action may be taken; all true on entry
  std::span<bool> legal = {};
};

/// Whether an episode that ended reached its aim; `unknown` where the env has no such notion.
enum class Success : std::int8_t { unknown = -1, no = 0, yes = 1 };

/// What a step brought.
struct Outcome {
  float reward = 0;         // finite
  bool terminated = false;  // the episode ended by its own rules: no future value
  bool truncated = false;   // it was cut off: the future counts, from the row just written
  Success success = Success::unknown;  // looked at only when the episode has ended
};

namespace detail {

template <class E>
/// step() of a Discrete action.
concept TakesChoice = requires(E env, std::int64_t action, Row row) {
  { env.step(action, row) } -> std::same_as<Outcome>;
};
template <class E>
/// step() of a MultiDiscrete action; a number per choice.
concept TakesChoices = requires(E env, std::span<const std::int64_t> action, Row row) {
  { env.step(action, row) } -> std::same_as<Outcome>;
};
template <class E>
/// step() of a Box action; a number per dimension, inside the bounds.
concept TakesPoint = requires(E env, std::span<const float> action, Row row) {
  { env.step(action, row) } -> std::same_as<Outcome>;
};

template <class E>
/// Whether an env reports statistics of its own; `stats` has as many as spec() names.
concept HasStats = requires(const E env, std::span<double> stats) {
  { env.episode_stats(stats) } -> std::same_as<void>;
};

/// Whether an env lists its state; one that does not is brought back by its seed and actions.
template <class E>
concept ListsState = HasState<StateWriter, E> && HasState<StateReader, E>;

}  // namespace detail

/// A deterministic simulator: the same seed and actions give the same episode. reset and step fill
/// the row with the observation to act on next; they allocate nothing and throw nothing. step takes
/// std::int64_t (discrete), std::span<const std::int64_t> (multi-discrete) or std::span<const
/// float> (box).
/// Optional: state(archive) lists what an episode in progress is made of, see
/// penstock/core/base/archive.h. Without it an env is saved as the seed and the actions of its
/// episode, and loading takes the actions again.
/// Optional: episode_stats(std::span<double>) const reports what spec().stats names, when an
/// episode has ended.
template <class E>
///
/// An env need not be thread-safe: one object is called by one thread at a time. It does not reset
/// itself, nor count steps to truncate: BatchedEnv does both. examples/cpp/my_env is a whole one.
concept Env = std::movable<E> && std::constructible_from<E, const typename E::Config&> &&
    (detail::TakesChoice<E> || detail::TakesChoices<E> ||
     detail::TakesPoint<E>)&&requires(E env, const E fixed, typename E::Config config,
                                      FieldList visitor, std::uint64_t seed, Row row) {
  { fixed.spec() } -> std::same_as<EnvSpec>;
  { env.reset(seed, row) } -> std::same_as<void>;
  config.fields(visitor);
};

}  // namespace penstock
