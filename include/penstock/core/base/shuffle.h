#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "penstock/core/base/random.h"

namespace penstock {

/// Every order of the items alike (Fisher and Yates, from the end). Not std::shuffle, whose draws
/// each library chooses for itself.
/// The result is a function of the sequence's place, the same on every machine. Fewer than 2^32
/// items, with size() and operator[].
template <class Items>
void shuffle(Items& items, Random& random) {
  for (std::size_t left = items.size(); left > 1; --left) {
    std::swap(items[left - 1], items[random.below(left)]);
  }
}

}  // namespace penstock
