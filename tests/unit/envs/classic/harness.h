#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/core/env/env.h"

namespace penstock {

/// One env with a row of its own.
template <Env E>
struct Alone {
  explicit Alone(const typename E::Config& config = {})
      : env(config),
        obs(env.spec().obs.size()),
        legal(std::make_unique<bool[]>(env.spec().action.num_actions())) {}

  void reset(std::uint64_t seed) { env.reset(seed, fresh_row()); }
  template <class Action>
  Outcome step(const Action& action) {
    return env.step(action, fresh_row());
  }
  Row fresh_row() {
    const std::span<bool> mask(legal.get(), env.spec().action.num_actions());
    for (bool& flag : mask) { flag = true; }
    return {obs, mask};
  }
  /// The bytes of state(), read as numbers.
  template <std::size_t n>
  std::array<double, n> physical() {
    std::vector<std::byte> bytes;
    StateWriter writer(bytes);
    env.state(writer);
    std::array<double, n> values{};
    StateReader reader(bytes);
    reader(values);
    return values;
  }
  template <std::size_t n>
  void set_physical(std::array<double, n> values) {
    std::vector<std::byte> bytes;
    StateWriter writer(bytes);
    writer(values);
    StateReader reader(bytes);
    env.state(reader);
  }

  E env;
  std::vector<float> obs;
  std::unique_ptr<bool[]> legal;
};

}  // namespace penstock
