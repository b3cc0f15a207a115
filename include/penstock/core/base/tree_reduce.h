#pragma once
#include <cstddef>
#include <span>

namespace penstock {

/// Merges items[0..n) into items[0] pairwise: (0,1) (2,3) ..., then (0,2) ..., a fixed binary tree.
/// merge(a, b) folds b into a.
/// The order of merging depends on n alone, so sums of floats have the same bits however many
/// threads made the items. The other items are left in a state of no meaning.
template <class T, class Merge>
void tree_reduce(std::span<T> items, const Merge& merge) {
  for (std::size_t stride = 1; stride < items.size(); stride *= 2) {
    for (std::size_t i = 0; i + stride < items.size(); i += 2 * stride) {
      merge(items[i], items[i + stride]);
    }
  }
}

}  // namespace penstock
