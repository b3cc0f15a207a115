#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace penstock::fused {

/// Floats on cache lines, zero at first; sized once.
/// Owns its memory; moves, does not copy.
class AlignedFloats {
 public:
  AlignedFloats() = default;
  /// Throws std::bad_alloc. The memory ends with a whole cache line, so vectors may read beyond
  /// size().
  explicit AlignedFloats(std::size_t size) : size_(size) {
    const std::size_t bytes = (size * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment;
    data_.reset(
        static_cast<float*>(std::aligned_alloc(kAlignment, bytes == 0 ? kAlignment : bytes)));
    if (data_ == nullptr) { throw std::bad_alloc(); }
    for (std::size_t i = 0; i < size; ++i) { data_[i] = 0; }
  }

  /// Constness is shallow: scratch memory is written from const calls.
  [[nodiscard]] float* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kAlignment = 64;
  struct Free {
    void operator()(float* data) const { std::free(data); }  // NOLINT: of aligned_alloc
  };

  std::unique_ptr<float[], Free> data_;  // NOLINT(modernize-avoid-c-arrays)
  std::size_t size_ = 0;
};

}  // namespace penstock::fused
