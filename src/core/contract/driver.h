#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "penstock/core/base/random.h"
#include "penstock/core/base/thread_pool.h"
#include "penstock/core/env/vec_env.h"

namespace penstock::contract {

/// std::vector<bool> cannot be lent as a span.
class Bools {
 public:
  explicit Bools(std::size_t size) : data_(std::make_unique<bool[]>(size)), size_(size) {}
  [[nodiscard]] std::span<bool> span() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<bool[]> data_;
  std::size_t size_;
};

/// Steps a VecEnv with random legal actions, each env's drawn from its own Random, and keeps what
/// came back. What an env has not written stays poisoned with NaN.
class Driver {
 public:
  Driver(const EnvFactory& factory, EnvSlice slice, std::uint64_t seed);

  void reset();
  void step();
  /// The same, one range at a time, or all at once on a pool.
  void step(std::span<const EnvRange> ranges);
  void step(std::span<const EnvRange> ranges, ThreadPool& pool);

  [[nodiscard]] VecEnv& env() { return *env_; }
  [[nodiscard]] const EnvSpec& spec() const { return env_->spec(); }
  [[nodiscard]] std::size_t num_envs() const { return num_envs_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }

  /// Everything the last reset or step wrote, as bytes: of all envs, or of one.
  [[nodiscard]] std::vector<std::byte> bytes() const;
  [[nodiscard]] std::vector<std::byte> bytes(std::size_t env) const;
  /// Takes over rows and action randomness, not the envs: what a checkpoint holds beside them.
  void take_rows(const Driver& other);

  std::vector<float> obs;  // [N, F]
  Bools legal;             // [N, A]
  std::vector<float> reward;
  Bools terminated;
  Bools truncated;
  std::vector<float> final_obs;  // [N, F]
  std::vector<EpisodeEnd> episode;

  [[nodiscard]] bool ended(std::size_t i) const {
    return terminated.span()[i] || truncated.span()[i];
  }

 private:
  void draw_actions();
  void draw_choices(std::size_t i);
  void draw_point(std::size_t i);
  void poison();
  void append_bytes(EnvRange range, std::vector<std::byte>& out) const;
  void step_range(EnvRange range);

  std::size_t num_envs_;
  std::uint64_t seed_;
  std::unique_ptr<VecEnv> env_;
  std::vector<Random> random_;         // [N]
  std::vector<std::int64_t> choices_;  // [N, dims]
  std::vector<float> points_;          // [N, dims]
};

}  // namespace penstock::contract
