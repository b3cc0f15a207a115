#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

namespace penstock::fused {

// The kernels under the fused networks: products, activations and copies of small dense layers.
// Rows are padded to kPad floats, whatever the instruction set, and start on a cache line. A row's
// result depends on that row alone, never on how many others are computed with it.

inline constexpr std::size_t kPad = 16;

/// The floats that a row of n takes.
constexpr std::size_t padded(std::size_t n) { return (n + kPad - 1) / kPad * kPad; }

/// Those whose slope follows from their output, so that no input need be kept.
enum class Activation { tanh, relu, elu };
/// By its name in configs and files; none for what has no kernel.
std::optional<Activation> activation_named(std::string_view name);
std::string_view name_of(Activation activation);

/// A matrix whose numbers are read one at a time, so that any strides will do.
struct Scattered {
  const float* data = nullptr;
  std::size_t row_stride = 0;
  std::size_t column_stride = 1;
};

/// out[r] = bias + a[r] * b.
struct Product {
  Scattered a;                  // [rows, depth]
  const float* b = nullptr;     // [depth, width]
  const float* bias = nullptr;  // [width]; null: 0
  float* out = nullptr;         // [rows, width]
  std::size_t rows = 0;
  std::size_t depth = 0;
  std::size_t width = 0;  // a multiple of kPad
  bool add = false;       // onto what is in `out`; bias is then left out
};
/// `out` must not overlap what is read. Sums run along the depth, in its order.
void multiply(const Product& product);

/// sum[k] = sum over r of a[r][k] * b[r].
struct OuterProduct {
  Scattered a;               // [rows, depth]
  const float* b = nullptr;  // [rows, width]
  float* sum = nullptr;      // [depth, width]
  std::size_t rows = 0;
  std::size_t depth = 0;
  std::size_t width = 0;  // a multiple of kPad
  bool add = false;       // onto what is in `sum`
};
/// Likewise; sums run along the rows.
void multiply_outer(const OuterProduct& product);

/// out[o * out_stride + r] = bias[o] + a[r] . b[o]: a product with few columns, written by column.
struct Dots {
  const float* a = nullptr;     // [rows, width]
  const float* b = nullptr;     // [num_outputs, width]
  const float* bias = nullptr;  // [num_outputs]
  float* out = nullptr;         // [num_outputs, out_stride]
  std::size_t out_stride = 0;
  std::size_t rows = 0;
  std::size_t width = 0;  // a multiple of kPad
  std::size_t num_outputs = 0;
};
/// What pads the rows of both must be zero.
void multiply_narrow(const Dots& dots);

/// In place on n numbers, a multiple of kPad.
void activate(Activation activation, float* x, std::size_t n);

/// From the gradient of an activation's output to that of its input, in place; the columns' sums,
/// which are the bias's gradient, are added to `column_sums`.
struct ActivationGradient {
  const float* output = nullptr;  // [rows, width], of the activation
  float* gradient = nullptr;      // [rows, width]
  float* column_sums = nullptr;   // [width]
  std::size_t rows = 0;
  std::size_t width = 0;  // a multiple of kPad
};
/// The columns are summed in the order of the rows.
void activation_gradient(Activation activation, const ActivationGradient& x);

/// out[c * out_stride + r] = in[r * in_stride + c].
struct Transposition {
  const float* in = nullptr;
  std::size_t in_stride = 0;
  float* out = nullptr;
  std::size_t out_stride = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
};
/// `out` must not overlap `in`.
void transpose(const Transposition& x);

}  // namespace penstock::fused
