#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "penstock/base/random.h"

namespace penstock {

/// Every order of the items alike (Fisher and Yates, from the end). Not std::shuffle, whose draws
/// each library chooses for itself.
template <class Items>
void shuffle(Items& items, Random& random) {
  for (std::size_t left = items.size(); left > 1; --left) {
    std::swap(items[left - 1], items[random.below(static_cast<std::uint32_t>(left))]);
  }
}

}  // namespace penstock
