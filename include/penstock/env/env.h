#pragma once
#include <concepts>
#include <cstdint>
#include <span>

#include "penstock/base/archive.h"
#include "penstock/base/config.h"
#include "penstock/env/spec.h"

namespace penstock {

/// One environment's slice of the rollout buffer, lent for one call.
struct Row {
  std::span<float> obs;   // [obs_size]
  std::span<bool> legal;  // [num_actions], true where the action may be taken; all true on entry
};

/// Whether an episode that ended reached its aim; `unknown` where the env has no such notion.
enum class Success : std::int8_t { unknown = -1, no = 0, yes = 1 };

/// What a step brought.
struct Outcome {
  float reward = 0;
  bool terminated = false;  // the episode ended by its own rules: no future value
  bool truncated = false;   // it was cut off: the future counts, from the row just written
  Success success = Success::unknown;
};

namespace detail {

template <class E>
concept TakesChoice = requires(E env, std::int64_t action, Row row) {
  { env.step(action, row) } -> std::same_as<Outcome>;
};
template <class E>
concept TakesChoices = requires(E env, std::span<const std::int64_t> action, Row row) {
  { env.step(action, row) } -> std::same_as<Outcome>;
};
template <class E>
concept TakesPoint = requires(E env, std::span<const float> action, Row row) {
  { env.step(action, row) } -> std::same_as<Outcome>;
};

template <class E>
concept HasStats = requires(const E env, std::span<double> stats) {
  { env.episode_stats(stats) } -> std::same_as<void>;
};

}  // namespace detail

/// A deterministic simulator: the same seed and actions give the same episode. reset and step fill
/// the row with the observation to act on next; they allocate nothing and throw nothing. step takes
/// std::int64_t (discrete), std::span<const std::int64_t> (multi-discrete) or std::span<const
/// float> (box). state(archive) lists what an episode in progress is made of.
/// Optional: episode_stats(std::span<double>) const tells what spec().stats names, when an episode
/// has ended.
template <class E>
concept Env = std::movable<E> && std::constructible_from<E, const typename E::Config&> &&
    (detail::TakesChoice<E> || detail::TakesChoices<E> ||
     detail::TakesPoint<E>)&&requires(E env, const E fixed, typename E::Config config,
                                      FieldList visitor, std::uint64_t seed, Row row,
                                      StateWriter writer, StateReader reader) {
  { fixed.spec() } -> std::same_as<EnvSpec>;
  { env.reset(seed, row) } -> std::same_as<void>;
  env.state(writer);
  env.state(reader);
  config.fields(visitor);
};

}  // namespace penstock
