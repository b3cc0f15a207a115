#pragma once
#include <array>
#include <cstdint>

#include "penstock/core/base/errors.h"

namespace penstock {

/// Philox 4x32-10 (Salmon et al., SC 2011): a bijection of the counter under a key.
/// Same counter and key, same four words; there is no state to share or to lose.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

/// What a random number is for. A number belongs to one stream, so that adding a use of
/// randomness in one place never shifts the numbers of another. The values are part of the
/// reproducibility contract: never renumber.
enum class Stream : std::uint16_t {
  episode = 0,    // the seed of an env's episode
  action = 1,     // sampling actions
  shuffle = 2,    // minibatch order
  weights = 3,    // initial weights
  evaluate = 4,   // the seeds of evaluation
  benchmark = 5,  // synthetic load
  search = 6,     // settings that a fleet draws
};

/// A place in the run's randomness: (seed, owner, episode, stream). The owner is an env, a shard
/// or a layer; the episode is whatever counts its uses (48 bits).
struct RandomKey {
  std::uint64_t seed = 0;
  std::uint32_t owner = 0;
  std::uint64_t episode = 0;
  Stream stream = Stream::episode;
};

/// The sequence of numbers at one place. Copyable; its position is its whole state.
///
///     Random random({.seed = seed, .owner = env, .stream = Stream::action});
///     const double x = random.uniform();
///
/// Whole numbers and uniform ones are the same on every machine; normal() calls libm, whose last
/// bit may differ. Not thread-safe: every thread makes its own.
class Random {
 public:
  /// Where a sequence begins: block b of it (b = 0, 1, ...) is philox of the counter with b + 1
  /// added to its first word. The owner is counter[2].
  struct Start {
    std::array<std::uint32_t, 2> key;
    std::array<std::uint32_t, 4> counter;
  };
  /// For kernels that draw many sequences at once.
  static Start start(const RandomKey& key);

  Random() = default;
  explicit Random(const RandomKey& key);
  /// For an env, which is given the seed of an episode.
  explicit Random(std::uint64_t seed) : Random(RandomKey{.seed = seed}) {}

  std::uint32_t next();
  std::uint64_t next64();
  double uniform();                          // [0, 1), 53 bits
  double uniform(double low, double high);   // [low, high); may round up to high
  float uniform_float();                     // [0, 1), 24 bits
  double normal();                           // Box-Muller, one of the pair
  std::uint32_t below(std::uint32_t bound);  // [0, bound), unbiased; bound > 0

  /// One function for saving and loading, see penstock/core/base/archive.h.
  template <class Archive>
  void state(Archive& archive) {
    archive(key_, counter_, used_);
    if constexpr (Archive::kLoads) {
      if (used_ > kWords) { throw DataError("random state: a position outside its block"); }
      words_ = philox(counter_, key_);
    }
  }

 private:
  static constexpr std::uint32_t kWords = 4;

  std::array<std::uint32_t, 2> key_{};
  std::array<std::uint32_t, 4> counter_{};  // of the block in `words_`
  std::array<std::uint32_t, 4> words_{};
  std::uint32_t used_ = kWords;  // kWords: the next call starts the next block
};

/// A 64-bit seed for one episode of one env.
/// Episodes count from 0. Seeds of different places are unrelated.
std::uint64_t episode_seed(std::uint64_t seed, std::uint32_t env, std::uint64_t episode);

}  // namespace penstock
