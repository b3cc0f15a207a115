#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "penstock/core/base/random.h"

namespace penstock::fused {

// Drawing actions for many rows at once. Everything stands by columns of kDrawRows.

inline constexpr std::size_t kDrawRows = 64;
inline constexpr std::size_t kNoRow = std::numeric_limits<std::size_t>::max();

using DrawColumn = std::array<float, kDrawRows>;

/// Four Philox words for each of `rows` owners: word w of owner first_owner + r is at
/// [w * kDrawRows + r], and is the word that Random(key) draws as number 4 * block + w.
void random_words(const RandomKey& first, std::uint32_t block, std::size_t rows,
                  std::uint32_t* words);

/// One choice among n by inverse transform, over the legal alternatives.
struct CategoricalDraw {
  const float* logits = nullptr;         // [n, kDrawRows]
  const float* legal = nullptr;          // [n, kDrawRows], above 0 where legal; null: all are
  const std::uint32_t* words = nullptr;  // [kDrawRows], uniform
  float* chosen = nullptr;               // [kDrawRows]
  float* log_prob = nullptr;             // [kDrawRows], added to
  std::size_t n = 0;
  std::size_t rows = 0;
};
/// The first row that has a legal logit of NaN or +infinity or has nothing legal, or kNoRow. A
/// logit of -infinity is never drawn.
std::size_t draw_categorical(const CategoricalDraw& x);

/// A normal deviate per row from two words each, by Box-Muller.
void draw_normal(const std::uint32_t* words1, const std::uint32_t* words2, std::size_t rows,
                 float* z);

}  // namespace penstock::fused
