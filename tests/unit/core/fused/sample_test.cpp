#include "penstock/core/fused/sample.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "penstock/core/fused/isa.h"

using namespace penstock;

TEST_CASE(
    "vectors of random words are the words of the scalar generator, on every instruction set") {
  for (const std::string& isa : fused::supported_isas()) {
    CAPTURE(isa);
    fused::use_isa(isa);
    for (const std::size_t rows : {1U, 17U, 64U}) {
      const RandomKey key{.seed = 0x123456789ABCDEF,
                          .owner = 0xFFFFFFF0,  // runs over the end
                          .episode = 0x10000000F,
                          .stream = Stream::action};
      std::vector<std::uint32_t> words(4 * fused::kDrawRows);
      for (const std::uint32_t block : {0U, 1U}) {
        fused::random_words(key, block, rows, words.data());
        for (std::size_t r = 0; r < rows; ++r) {
          RandomKey own = key;
          own.owner += static_cast<std::uint32_t>(r);
          Random random(own);
          for (std::uint32_t skip = 0; skip < 4 * block; ++skip) { random.next(); }
          for (std::size_t w = 0; w < 4; ++w) {
            REQUIRE(words[w * fused::kDrawRows + r] == random.next());
          }
        }
      }
    }
  }
  fused::use_isa("auto");
}

TEST_CASE("normal deviates have the moments and the tail of the normal distribution") {
  for (const std::string& isa : fused::supported_isas()) {
    CAPTURE(isa);
    fused::use_isa(isa);
    double sum[5] = {};
    double beyond3 = 0;
    constexpr int kBlocks = 4000;
    std::vector<std::uint32_t> words(4 * fused::kDrawRows);
    fused::DrawColumn z{};
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      fused::random_words({.seed = 5}, block, fused::kDrawRows, words.data());
      fused::draw_normal(words.data(), words.data() + fused::kDrawRows, fused::kDrawRows, z.data());
      for (const float x : z) {
        for (int power = 1; power <= 4; ++power) { sum[power] += std::pow(x, power); }
        beyond3 += std::abs(x) > 3 ? 1 : 0;
      }
    }
    const double n = kBlocks * static_cast<double>(fused::kDrawRows);
    CHECK(std::abs(sum[1] / n) < 5 / std::sqrt(n));
    CHECK(std::abs(sum[2] / n - 1) < 5 * std::sqrt(2 / n));
    CHECK(std::abs(sum[3] / n) < 5 * std::sqrt(15 / n));
    CHECK(std::abs(sum[4] / n - 3) < 5 * std::sqrt(96 / n));
    const double expected = std::erfc(3 / std::sqrt(2.0));
    CHECK(std::abs(beyond3 / n - expected) < 5 * std::sqrt(expected / n));
  }
  fused::use_isa("auto");
}
