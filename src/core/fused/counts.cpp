#include "penstock/core/fused/counts.h"

#include <utility>

#include "core/fused/targets.h"
#include "penstock/core/base/check.h"
// Compiles the rest of this file once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/fused/counts.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock::fused::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::CappedTag<float, kPad>;
using Vec = hn::Vec<Tag>;
constexpr Tag kTag;
constexpr std::size_t kLanes = HWY_LANES(float) < kPad ? HWY_LANES(float) : kPad;

/// All lists, for a few columns: those of a large table then stay in the second-level cache.
template <std::size_t Vectors>
HWY_INLINE void sum_columns(const RowSums& x, std::size_t column) {
  const std::uint32_t* HWY_RESTRICT first = x.lists.first.data();
  const std::uint32_t* HWY_RESTRICT items = x.lists.items.data();
  const float* HWY_RESTRICT table = x.table + column;
  for (std::size_t i = 0; i < x.lists.count(); ++i) {
    if (x.add && first[i] == first[i + 1]) { continue; }
    float* HWY_RESTRICT out = x.out + i * x.width + column;
    Vec sums[Vectors];
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < Vectors; ++v) {
      sums[v] = x.add     ? hn::Load(kTag, out + v * kLanes)
                : x.start ? hn::Load(kTag, x.start + column + v * kLanes)
                          : hn::Zero(kTag);
    }
    for (std::size_t k = first[i]; k < first[i + 1]; ++k) {
      const float* HWY_RESTRICT row = table + items[k] * x.width;
      HWY_UNROLL(4)
      for (std::size_t v = 0; v < Vectors; ++v) {
        sums[v] = hn::Add(sums[v], hn::Load(kTag, row + v * kLanes));
      }
    }
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < Vectors; ++v) { hn::Store(sums[v], kTag, out + v * kLanes); }
  }
}

void sum_rows(const RowSums& x) {
  constexpr std::size_t kVectors = 4;
  std::size_t column = 0;
  for (; column + kVectors * kLanes <= x.width; column += kVectors * kLanes) {
    sum_columns<kVectors>(x, column);
  }
  for (; column < x.width; column += kLanes) { sum_columns<1>(x, column); }
}

}  // namespace penstock::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::fused {

HWY_EXPORT(sum_rows);

void sum_rows(const RowSums& x) { HWY_DYNAMIC_DISPATCH(sum_rows)(x); }

Counted::Counted(std::vector<InputPart> parts) : parts_(std::move(parts)) {
  for (const InputPart& part : parts_) { num_features_ += part.num_features; }
}

void Counted::read(const Scattered& rows, std::size_t num_rows, bool for_gradient) {
  row_stride_ = rows.row_stride;
  by_row_.first.assign(1, 0);
  by_row_.items.clear();
  for (std::size_t r = 0; r < num_rows; ++r) {
    for (const InputPart& part : parts_) {
      if (!part.counts) { continue; }
      const float* row = rows.data + r * rows.row_stride;
      for (std::size_t k = 0; k < part.size; ++k) {
        const float place = row[(part.offset + k) * rows.column_stride];
        if (place < 0) { continue; }
        PENSTOCK_CHECK(place, <, static_cast<float>(part.num_features));
        by_row_.items.push_back(part.first_feature + static_cast<std::size_t>(place));
      }
    }
    by_row_.first.push_back(by_row_.items.size());
  }
  if (for_gradient) { turn(); }
}

/// The rows of each feature, in ascending order: a gradient is then summed where the chunk's deltas
/// are at hand, and always in the same order.
void Counted::turn() {
  std::vector<std::uint32_t>& first = by_feature_.first;
  first.assign(num_features_ + 1, 0);
  for (const std::uint32_t feature : by_row_.items) { ++first[feature + 1]; }
  for (std::size_t f = 0; f < num_features_; ++f) { first[f + 1] += first[f]; }
  next_.assign(first.begin(), first.end() - 1);
  by_feature_.items.resize(by_row_.items.size());
  for (std::size_t r = 0; r < by_row_.count(); ++r) {
    for (std::size_t k = by_row_.first[r]; k < by_row_.first[r + 1]; ++k) {
      by_feature_.items[next_[by_row_.items[k]]++] = r;
    }
  }
}

}  // namespace penstock::fused
#endif  // HWY_ONCE
