#pragma once
#include <algorithm>
#include <cstdint>

#include "penstock/core/base/random.h"

namespace penstock::booking {

/// How much a round takes out.
struct StringSizes {
  double longest = 10;       // stops of a string
  double mean_removed = 10;  // requests of a round
};

/// Uniform in {low, ..., high}.
inline std::int32_t drawn_between(std::int32_t low, std::int32_t high, Random& random) {
  return low + random.below(high - low + 1);
}

/// How many strings a round takes out of plans whose routes have `mean_length` stops, and how long
/// each may be.
struct StringRound {
  double max_length;
  std::int32_t strings;

  StringRound(const StringSizes& sizes, double mean_length, Random& random)
      : max_length(std::min(sizes.longest, mean_length)),
        strings(static_cast<std::int32_t>(
            random.uniform(1, 4 * sizes.mean_removed / (1 + max_length)))) {}
};

/// Neighbouring stops of a route, every second time with a gap that stays: then what was around it
/// is free to move, and it is not.
class StringDraw {
 public:
  /// `size`: stops of the route, at least 1.
  StringDraw(std::int32_t size, double max_length, Random& random)
      : size_(size),
        length_(std::min(size, static_cast<std::int32_t>(
                                   random.uniform(1, std::min<double>(size, max_length) + 1)))) {
    if (length_ > 1 && length_ < size && random.uniform() < kSplitShare) {
      spared_ = 1;
      while (length_ + spared_ < size && random.uniform() < kWidenShare) { ++spared_; }
    }
  }

  /// Calls take(place) for the places of a string that has `at` in its reach; places of a route
  /// count from 1.
  template <class Take>
  void around(std::int32_t at, Random& random, Take take) const {
    const std::int32_t whole = length_ + spared_;
    const std::int32_t begin =
        drawn_between(std::max(1, at - whole + 1), std::min(at, size_ - whole + 1), random);
    const std::int32_t gap = spared_ == 0 ? whole : drawn_between(1, length_ - 1, random);
    for (std::int32_t i = 0; i < whole; ++i) {
      if (i < gap || i >= gap + spared_) { take(begin + i); }
    }
  }

 private:
  static constexpr double kSplitShare = 0.5;
  static constexpr double kWidenShare = 0.01;

  std::int32_t size_;
  std::int32_t length_;
  std::int32_t spared_ = 0;  // the gap's stops
};

}  // namespace penstock::booking
