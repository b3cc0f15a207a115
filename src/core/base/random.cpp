#include "penstock/core/base/random.h"

#include <cmath>
#include <numbers>

#include "penstock/core/base/check.h"

namespace penstock {
namespace {

constexpr std::uint32_t kMultiply0 = 0xD2511F53;
constexpr std::uint32_t kMultiply1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{kMultiply0} * counter[0];
    const std::uint64_t product1 = std::uint64_t{kMultiply1} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

// counter = {block, episode low, owner, stream | episode high}: the block counts up from one, so
// that block zero of a fresh Random is never drawn and wrapping it cannot reach another owner's
// numbers.
Random::Start Random::start(const RandomKey& key) {
  return {{static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)},
          {0, static_cast<std::uint32_t>(key.episode), key.owner,
           static_cast<std::uint32_t>(key.stream) << 16 |
               static_cast<std::uint32_t>(key.episode >> 32 & 0xFFFF)}};
}

Random::Random(const RandomKey& key) {
  const Start begin = start(key);
  key_ = begin.key;
  counter_ = begin.counter;
}

std::uint32_t Random::next() {
  if (used_ == kWords) {
    ++counter_[0];
    words_ = philox(counter_, key_);
    used_ = 0;
  }
  return words_[used_++];
}

std::uint64_t Random::next64() {
  const std::uint64_t high = next();
  return high << 32 | next();
}

double Random::uniform() { return (next64() >> 11) * 0x1.0p-53; }

double Random::uniform(double low, double high) { return low + (high - low) * uniform(); }

float Random::uniform_float() { return (next() >> 8) * 0x1.0p-24F; }

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::uint32_t Random::below(std::uint32_t bound) {
  PENSTOCK_CHECK(bound, >, 0U);
  // Lemire's method: the high word of a product, rejecting the few low words that would bias it.
  // They are below bound, so that the division is seldom needed.
  std::uint64_t product = std::uint64_t{next()} * bound;
  if (static_cast<std::uint32_t>(product) < bound) {
    const std::uint32_t threshold = -bound % bound;
    while (static_cast<std::uint32_t>(product) < threshold) {
      product = std::uint64_t{next()} * bound;
    }
  }
  return product >> 32;
}

std::uint64_t episode_seed(std::uint64_t seed, std::uint32_t env, std::uint64_t episode) {
  return Random({.seed = seed, .owner = env, .episode = episode, .stream = Stream::episode})
      .next64();
}

}  // namespace penstock
