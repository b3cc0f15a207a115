#include "penstock/core/fused/dense.h"

#include <utility>

#include "core/fused/targets.h"
// Compiles the rest of this file once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/fused/dense.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/fused/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::fused::HWY_NAMESPACE {

using Tag = hn::CappedTag<float, kPad>;
using Vec = hn::Vec<Tag>;
constexpr Tag kTag;
constexpr std::size_t kLanes = HWY_LANES(float) < kPad ? HWY_LANES(float) : kPad;
static_assert(kPad % kLanes == 0);

// A tile of sums that stays in registers: 6 rows by 4 vectors where there are 32 of them.
// Why tiles: a sum that is kept in memory costs a load and a store for each product. 24 sums, 4
// columns of b and a number of a are 29 registers of 32, and each number that is loaded serves 4 or
// 6 products.
//
// Why rows are padded: width is a multiple of kPad for every instruction set, so no kernel has a
// remainder loop, and a layer has the same layout whatever machine wrote it.
//
// Why the order of additions is fixed: each sum runs along the depth from first to last, in one
// register, whichever tile its row falls into. A row's bits are then the same alone, in a block of
// 64, or on another thread; blocks and threads may be chosen by speed.
constexpr std::size_t kTileRows = 6;
constexpr std::size_t kTileVectors = kLanes == 16 ? 4 : 2;

/// Calls tile.template operator()<R, V>(row, column) until rows by width are covered.
template <std::size_t Rows, std::size_t Vectors, class Tile>
HWY_INLINE void cover_rows(std::size_t& row, std::size_t rows, std::size_t column, Tile& tile) {
  for (; row + Rows <= rows; row += Rows) { tile.template run<Rows, Vectors>(row, column); }
}

template <std::size_t Vectors, class Tile>
HWY_INLINE void cover_column(std::size_t rows, std::size_t& column, std::size_t width, Tile& tile) {
  for (; column + Vectors * kLanes <= width; column += Vectors * kLanes) {
    std::size_t row = 0;
    cover_rows<kTileRows, Vectors>(row, rows, column, tile);
    cover_rows<4, Vectors>(row, rows, column, tile);
    cover_rows<2, Vectors>(row, rows, column, tile);
    cover_rows<1, Vectors>(row, rows, column, tile);
  }
}

template <class Tile>
HWY_INLINE void cover(std::size_t rows, std::size_t width, Tile tile) {
  std::size_t column = 0;
  cover_column<kTileVectors>(rows, column, width, tile);
  if constexpr (kTileVectors > 2) { cover_column<2>(rows, column, width, tile); }
  cover_column<1>(rows, column, width, tile);
}

/// sums[r][v] += a(r) * b(v) for each step of a depth.
template <std::size_t Rows, std::size_t Vectors>
HWY_INLINE void multiply_tile(Vec (&sums)[Rows][Vectors], const float* HWY_RESTRICT a,
                              std::size_t a_row, std::size_t a_step, const float* HWY_RESTRICT b,
                              std::size_t b_step, std::size_t depth) {
  for (std::size_t k = 0; k < depth; ++k) {
    Vec columns[Vectors];
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < Vectors; ++v) {
      columns[v] = hn::Load(kTag, b + k * b_step + v * kLanes);
    }
    HWY_UNROLL(6)
    for (std::size_t r = 0; r < Rows; ++r) {
      const Vec x = hn::Set(kTag, a[r * a_row + k * a_step]);
      HWY_UNROLL(4)
      for (std::size_t v = 0; v < Vectors; ++v) {
        sums[r][v] = hn::MulAdd(x, columns[v], sums[r][v]);
      }
    }
  }
}

template <std::size_t Rows, std::size_t Vectors>
HWY_INLINE void store_tile(const Vec (&sums)[Rows][Vectors], float* HWY_RESTRICT out,
                           std::size_t stride) {
  HWY_UNROLL(6)
  for (std::size_t r = 0; r < Rows; ++r) {
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < Vectors; ++v) {
      hn::Store(sums[r][v], kTag, out + r * stride + v * kLanes);
    }
  }
}

struct ProductTile {
  const Product& x;

  template <std::size_t Rows, std::size_t Vectors>
  HWY_INLINE void run(std::size_t row, std::size_t column) {
    float* out = x.out + row * x.width + column;
    Vec sums[Rows][Vectors];
    HWY_UNROLL(6)
    for (std::size_t r = 0; r < Rows; ++r) {
      HWY_UNROLL(4)
      for (std::size_t v = 0; v < Vectors; ++v) {
        sums[r][v] = x.add    ? hn::Load(kTag, out + r * x.width + v * kLanes)
                     : x.bias ? hn::Load(kTag, x.bias + column + v * kLanes)
                              : hn::Zero(kTag);
      }
    }
    multiply_tile(sums, x.a.data + row * x.a.row_stride, x.a.row_stride, x.a.column_stride,
                  x.b + column, x.width, x.depth);
    store_tile(sums, out, x.width);
  }
};

void multiply(const Product& product) { cover(product.rows, product.width, ProductTile{product}); }

struct OuterTile {
  const OuterProduct& x;

  template <std::size_t Rows, std::size_t Vectors>
  HWY_INLINE void run(std::size_t k, std::size_t column) {
    float* sum = x.sum + k * x.width + column;
    Vec sums[Rows][Vectors];
    HWY_UNROLL(6)
    for (std::size_t r = 0; r < Rows; ++r) {
      HWY_UNROLL(4)
      for (std::size_t v = 0; v < Vectors; ++v) {
        sums[r][v] = x.add ? hn::Load(kTag, sum + r * x.width + v * kLanes) : hn::Zero(kTag);
      }
    }
    multiply_tile(sums, x.a.data + k * x.a.column_stride, x.a.column_stride, x.a.row_stride,
                  x.b + column, x.width, x.rows);
    store_tile(sums, sum, x.width);
  }
};

void multiply_outer(const OuterProduct& product) {
  cover(product.depth, product.width, OuterTile{product});
}

// A head of one to four outputs would fill a quarter of a vector in multiply(). Here vectors run
// along the inputs, and lanes are summed once per output.
void multiply_narrow(const Dots& x) {
  for (std::size_t o = 0; o < x.num_outputs; ++o) {
    const float* HWY_RESTRICT b = x.b + o * x.width;
    float* HWY_RESTRICT out = x.out + o * x.out_stride;
    for (std::size_t r = 0; r < x.rows; ++r) {
      const float* HWY_RESTRICT a = x.a + r * x.width;
      Vec sum = hn::Zero(kTag);
      for (std::size_t i = 0; i < x.width; i += kLanes) {
        sum = hn::MulAdd(hn::Load(kTag, a + i), hn::Load(kTag, b + i), sum);
      }
      out[r] = x.bias[o] + hn::GetLane(hn::SumOfLanes(kTag, sum));
    }
  }
}

void activate_tanh(float* HWY_RESTRICT x, std::size_t n) {
  for (std::size_t i = 0; i < n; i += kLanes) {
    hn::Store(tanh(kTag, hn::Load(kTag, x + i)), kTag, x + i);
  }
}

void activate_relu(float* HWY_RESTRICT x, std::size_t n) {
  for (std::size_t i = 0; i < n; i += kLanes) {
    hn::Store(hn::Max(hn::Load(kTag, x + i), hn::Zero(kTag)), kTag, x + i);
  }
}

void activate_elu(float* HWY_RESTRICT x, std::size_t n) {
  for (std::size_t i = 0; i < n; i += kLanes) {
    hn::Store(elu(kTag, hn::Load(kTag, x + i)), kTag, x + i);
  }
}

template <class Slope>
HWY_INLINE void activation_gradient_of(const ActivationGradient& x, const Slope& slope) {
  for (std::size_t c = 0; c < x.width; c += kLanes) {
    Vec sum = hn::Load(kTag, x.column_sums + c);
    for (std::size_t r = 0; r < x.rows; ++r) {
      float* gradient = x.gradient + r * x.width + c;
      const Vec output = hn::Load(kTag, x.output + r * x.width + c);
      const Vec product = slope(output, hn::Load(kTag, gradient));
      hn::Store(product, kTag, gradient);
      sum = hn::Add(sum, product);
    }
    hn::Store(sum, kTag, x.column_sums + c);
  }
}

struct TanhSlope {
  HWY_INLINE Vec operator()(Vec output, Vec gradient) const {
    return hn::NegMulAdd(hn::Mul(output, output), gradient, gradient);
  }
};
struct ReluSlope {
  HWY_INLINE Vec operator()(Vec output, Vec gradient) const {
    return hn::IfThenElseZero(hn::Gt(output, hn::Zero(kTag)), gradient);
  }
};

struct EluSlope {  // exp(x) where x is not positive, which is the output plus 1
  HWY_INLINE Vec operator()(Vec output, Vec gradient) const {
    return hn::MulAdd(hn::Min(output, hn::Zero(kTag)), gradient, gradient);
  }
};

void gradient_tanh(const ActivationGradient& x) { activation_gradient_of(x, TanhSlope{}); }
void gradient_relu(const ActivationGradient& x) { activation_gradient_of(x, ReluSlope{}); }
void gradient_elu(const ActivationGradient& x) { activation_gradient_of(x, EluSlope{}); }

#if HWY_TARGET == HWY_SCALAR
constexpr std::size_t kBlock = 1;

HWY_INLINE void transpose_block(const Transposition& x, std::size_t r, std::size_t c) {
  x.out[c * x.out_stride + r] = x.in[r * x.in_stride + c];
}
#else
constexpr std::size_t kBlock = 4;

/// Four by four numbers, in registers.
HWY_INLINE void transpose_block(const Transposition& x, std::size_t r, std::size_t c) {
  const hn::FixedTag<float, 4> four;
  const hn::FixedTag<double, 2> two;
  const float* in = x.in + r * x.in_stride + c;
  const auto row0 = hn::LoadU(four, in);
  const auto row1 = hn::LoadU(four, in + x.in_stride);
  const auto row2 = hn::LoadU(four, in + 2 * x.in_stride);
  const auto row3 = hn::LoadU(four, in + 3 * x.in_stride);
  const auto low01 = hn::BitCast(two, hn::InterleaveLower(four, row0, row1));
  const auto low23 = hn::BitCast(two, hn::InterleaveLower(four, row2, row3));
  const auto high01 = hn::BitCast(two, hn::InterleaveUpper(four, row0, row1));
  const auto high23 = hn::BitCast(two, hn::InterleaveUpper(four, row2, row3));
  float* out = x.out + c * x.out_stride + r;
  const std::size_t stride = x.out_stride;
  hn::StoreU(hn::BitCast(four, hn::InterleaveLower(two, low01, low23)), four, out);
  hn::StoreU(hn::BitCast(four, hn::InterleaveUpper(two, low01, low23)), four, out + stride);
  hn::StoreU(hn::BitCast(four, hn::InterleaveLower(two, high01, high23)), four, out + 2 * stride);
  hn::StoreU(hn::BitCast(four, hn::InterleaveUpper(two, high01, high23)), four, out + 3 * stride);
}
#endif

void transpose(const Transposition& x) {
  const std::size_t whole_rows = x.rows / kBlock * kBlock;
  const std::size_t whole_columns = x.columns / kBlock * kBlock;
  for (std::size_t c = 0; c < whole_columns; c += kBlock) {
    for (std::size_t r = 0; r < whole_rows; r += kBlock) { transpose_block(x, r, c); }
  }
  for (std::size_t r = 0; r < x.rows; ++r) {
    for (std::size_t c = r < whole_rows ? whole_columns : 0; c < x.columns; ++c) {
      x.out[c * x.out_stride + r] = x.in[r * x.in_stride + c];
    }
  }
}

}  // namespace penstock::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::fused {

HWY_EXPORT(multiply);
HWY_EXPORT(multiply_outer);
HWY_EXPORT(multiply_narrow);
HWY_EXPORT(activate_tanh);
HWY_EXPORT(activate_relu);
HWY_EXPORT(activate_elu);
HWY_EXPORT(gradient_tanh);
HWY_EXPORT(gradient_relu);
HWY_EXPORT(gradient_elu);
HWY_EXPORT(transpose);

void multiply(const Product& product) { HWY_DYNAMIC_DISPATCH(multiply)(product); }
void multiply_outer(const OuterProduct& product) { HWY_DYNAMIC_DISPATCH(multiply_outer)(product); }
void multiply_narrow(const Dots& dots) { HWY_DYNAMIC_DISPATCH(multiply_narrow)(dots); }
void transpose(const Transposition& x) { HWY_DYNAMIC_DISPATCH(transpose)(x); }

namespace {

constexpr std::pair<Activation, std::string_view> kNames[] = {
    {Activation::tanh, "tanh"}, {Activation::relu, "relu"}, {Activation::elu, "elu"}};

}  // namespace

std::optional<Activation> activation_named(std::string_view name) {
  for (const auto& [activation, known] : kNames) {
    if (known == name) { return activation; }
  }
  return std::nullopt;
}

std::string_view name_of(Activation activation) {
  return kNames[static_cast<std::size_t>(activation)].second;
}

void activate(Activation activation, float* x, std::size_t n) {
  switch (activation) {
    case Activation::tanh:
      return HWY_DYNAMIC_DISPATCH(activate_tanh)(x, n);
    case Activation::relu:
      return HWY_DYNAMIC_DISPATCH(activate_relu)(x, n);
    case Activation::elu:
      return HWY_DYNAMIC_DISPATCH(activate_elu)(x, n);
  }
}

void activation_gradient(Activation activation, const ActivationGradient& x) {
  switch (activation) {
    case Activation::tanh:
      return HWY_DYNAMIC_DISPATCH(gradient_tanh)(x);
    case Activation::relu:
      return HWY_DYNAMIC_DISPATCH(gradient_relu)(x);
    case Activation::elu:
      return HWY_DYNAMIC_DISPATCH(gradient_elu)(x);
  }
}

}  // namespace penstock::fused
#endif  // HWY_ONCE
