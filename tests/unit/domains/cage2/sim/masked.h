#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "penstock/core/env/env.h"

namespace penstock::cage2::test {

/// An env with a row and, where it masks, a mask.
template <class E>
struct Masked {
  explicit Masked(const typename E::Config& config)
      : env(config),
        row(env.spec().obs.size()),
        num_actions(env.spec().action.num_actions()),
        legal(std::make_unique<bool[]>(num_actions)) {}
  void reset(std::uint64_t seed) { env.reset(seed, {row, mask()}); }
  Outcome step(std::int64_t action) { return env.step(action, {row, mask()}); }
  std::span<bool> mask() { return {legal.get(), num_actions}; }
  std::vector<bool> copied() { return {mask().begin(), mask().end()}; }

  E env;
  std::vector<float> row;
  std::size_t num_actions;
  std::unique_ptr<bool[]> legal;  // NOLINT(modernize-avoid-c-arrays): vector<bool> has no span
};

}  // namespace penstock::cage2::test
