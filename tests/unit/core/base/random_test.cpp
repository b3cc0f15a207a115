#include "penstock/core/base/random.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <set>
#include <vector>

#include "penstock/core/base/archive.h"
#include "penstock/core/base/errors.h"

using penstock::philox;
using penstock::Random;
using penstock::RandomKey;
using penstock::Stream;

namespace {

using Counter = std::array<std::uint32_t, 4>;
using Key = std::array<std::uint32_t, 2>;

std::vector<std::byte> saved(Random& random) {
  std::vector<std::byte> bytes;
  penstock::StateWriter writer(bytes);
  writer(random);
  return bytes;
}

Random loaded(const std::vector<std::byte>& bytes) {
  Random random;
  penstock::StateReader reader(bytes);
  reader(random);
  CHECK(reader.empty());
  return random;
}

}  // namespace

TEST_CASE("philox gives the known answers that Random123 publishes") {
  CHECK(philox({}, {}) == Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t kOnes = 0xffffffff;
  CHECK(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}) ==
        Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, Key{0xa4093822, 0x299f31d0}) ==
        Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("every part of a random key leads to other numbers") {
  const RandomKey base{.seed = 7, .owner = 3, .episode = 5, .stream = Stream::action};
  std::vector<RandomKey> keys(8, base);
  keys[1].seed = 8;
  keys[2].seed += std::uint64_t{1} << 32;
  keys[3].owner = 4;
  keys[4].episode = 6;
  keys[5].episode += std::uint64_t{1} << 32;
  keys[6].stream = Stream::shuffle;
  keys[7].episode += std::uint64_t{1} << 47;
  std::set<std::uint64_t> firsts;
  for (const RandomKey& key : keys) { firsts.insert(Random(key).next64()); }
  CHECK(firsts.size() == keys.size());
  CHECK(Random(base).next64() == Random(base).next64());
}

TEST_CASE("episode seeds differ by run, env and episode") {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (std::uint32_t env = 0; env < 16; ++env) {
      for (std::uint64_t episode = 0; episode < 16; ++episode) {
        seeds.insert(penstock::episode_seed(seed, env, episode));
      }
    }
  }
  CHECK(seeds.size() == 4 * 16 * 16);
}

TEST_CASE("uniform numbers stay in their interval and have its mean and variance") {
  Random random(1);
  constexpr int kDraws = 100000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.uniform(-2.0, 4.0);
    REQUIRE(x >= -2.0);
    REQUIRE(x <= 4.0);
    sum += x;
    squares += x * x;
    const float y = random.uniform_float();
    REQUIRE(y >= 0.0F);
    REQUIRE(y < 1.0F);
  }
  const double mean = sum / kDraws;
  CHECK(mean == doctest::Approx(1.0).epsilon(0.02));
  CHECK(squares / kDraws - mean * mean == doctest::Approx(3.0).epsilon(0.02));
}

TEST_CASE("normal numbers have the moments of a standard normal") {
  Random random(2);
  constexpr int kDraws = 100000;
  std::array<double, 4> moment{};
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    REQUIRE(std::isfinite(x));
    double power = 1;
    for (double& m : moment) { m += (power *= x) / kDraws; }
  }
  // Four standard errors of each: sqrt(1, 2, 15, 96 / draws).
  CHECK(std::abs(moment[0]) < 4 * std::sqrt(1.0 / kDraws));
  CHECK(std::abs(moment[1] - 1) < 4 * std::sqrt(2.0 / kDraws));
  CHECK(std::abs(moment[2]) < 4 * std::sqrt(15.0 / kDraws));
  CHECK(std::abs(moment[3] - 3) < 4 * std::sqrt(96.0 / kDraws));
}

TEST_CASE("below gives every number equally often") {
  Random random(3);
  constexpr std::uint32_t kBound = 7;
  constexpr int kDraws = 70000;
  std::array<int, kBound> counts{};
  for (int i = 0; i < kDraws; ++i) {
    const std::uint32_t x = random.below(kBound);
    REQUIRE(x < kBound);
    ++counts[x];
  }
  double chi_square = 0;
  for (const int count : counts) {
    const double expected = double{kDraws} / kBound;
    chi_square += (count - expected) * (count - expected) / expected;
  }
  CHECK(chi_square < 22.5);  // 6 degrees of freedom, p = 0.001
}

TEST_CASE("below rejects what would bias a bound near the top of the range") {
  // Of 2^32 words onto 3 * 2^30 numbers, a modulo gives half of all to the lowest third of the
  // numbers, a multiplication without rejection gives half to the multiples of three.
  Random random(4);
  constexpr std::uint32_t kThird = 1U << 30;
  std::array<int, 3> by_third{};
  std::array<int, 3> by_remainder{};
  for (int i = 0; i < 30000; ++i) {
    const std::uint32_t x = random.below(3 * kThird);
    ++by_third[x / kThird];
    ++by_remainder[x % 3];
  }
  for (const int count : by_third) { CHECK(count == doctest::Approx(10000).epsilon(0.04)); }
  for (const int count : by_remainder) { CHECK(count == doctest::Approx(10000).epsilon(0.04)); }
  CHECK(random.below(1) == 0);
}

TEST_CASE("below zero is our own fault and says so") {
  Random random(5);
  CHECK_THROWS_AS(random.below(0), std::logic_error);
}

TEST_CASE("a saved position continues with the same numbers, also inside a block") {
  for (int drawn = 0; drawn < 9; ++drawn) {
    CAPTURE(drawn);
    Random random({.seed = 11, .owner = 2, .episode = 9, .stream = Stream::action});
    for (int i = 0; i < drawn; ++i) { random.next(); }
    Random copy = loaded(saved(random));
    for (int i = 0; i < 16; ++i) { CHECK(copy.next() == random.next()); }
  }
}

TEST_CASE("a saved position that points outside its block is refused") {
  Random random(6);
  auto bytes = saved(random);
  bytes.back() = std::byte{0x7f};
  Random target;
  penstock::StateReader reader(bytes);
  CHECK_THROWS_AS(reader(target), penstock::DataError);
}
