#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace penstock::fused {

/// Floats on cache lines, zero at first; sized once.
/// Owns its memory; moves, does not copy.
class AlignedFloats {
 public:
  AlignedFloats() = default;
  /// Throws std::bad_alloc. The memory ends with a whole cache line, so vectors may read beyond
  /// size().
  explicit AlignedFloats(std::size_t size) : data_(allocate(size)), size_(size) {
    std::fill_n(data(), size, 0.0F);
  }
  /// A copy.
  explicit AlignedFloats(std::span<const float> values)
      : data_(allocate(values.size())), size_(values.size()) {
    std::copy(values.begin(), values.end(), data());
  }

  /// Constness is shallow: scratch memory is written from const calls.
  [[nodiscard]] float* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kAlignment = 64;
  static float* allocate(std::size_t size) {
    const std::size_t bytes = (size * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment;
    void* data = std::aligned_alloc(kAlignment, bytes == 0 ? kAlignment : bytes);
    if (data == nullptr) { throw std::bad_alloc(); }
    return static_cast<float*>(data);
  }
  struct Free {
    void operator()(float* data) const { std::free(data); }  // NOLINT: of aligned_alloc
  };

  std::unique_ptr<float[], Free> data_;  // NOLINT(modernize-avoid-c-arrays)
  std::size_t size_ = 0;
};

}  // namespace penstock::fused
