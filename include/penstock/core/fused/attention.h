#pragma once
#include <cstddef>

namespace penstock::fused {

// What attention needs beside products. Rows are multiples of kPad and start on a cache line; a
// row's result depends on that row alone.

/// Every row becomes exp(x + mask) over its sum; a column whose mask is -1e30 becomes 0.
struct Softmax {
  float* x = nullptr;           // [rows, width]
  const float* mask = nullptr;  // [width]
  std::size_t rows = 0;
  std::size_t width = 0;
};
/// In place.
void softmax(const Softmax& x);

/// out = x / root mean square of x * weight.
struct RmsNorm {
  const float* x = nullptr;       // [rows, width]
  const float* weight = nullptr;  // [width]
  float* out = nullptr;           // [rows, width]
  std::size_t rows = 0;
  std::size_t width = 0;
  float epsilon = 1e-6F;  // added to the mean square
};
/// `out` must not overlap `x`.
void rms_norm(const RmsNorm& x);

}  // namespace penstock::fused
