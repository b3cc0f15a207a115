#include <algorithm>
#include <utility>

#include "penstock/core/fused/mlp.h"

namespace penstock::fused {
namespace {

// Heads of at most this many outputs are dot products; wider ones fill vectors well enough.
constexpr std::size_t kNarrow = 4;

}  // namespace

Dense::Dense(const LinearShape& shape, bool head, std::size_t chunk_rows)
    : shape_(shape), head_(head), chunk_rows_(chunk_rows) {
  const std::size_t in = padded(shape.inputs);
  const std::size_t out = padded(shape.outputs);
  if (!narrow() && !lies_by_input()) { by_input_ = AlignedFloats(shape.inputs * out); }
  if (in != shape.inputs && !shape.by_input) {
    by_output_copy_ = AlignedFloats(shape.outputs * in);
  }
  if (sums_by_input()) {
    if (!lies_by_input()) { sum_ = AlignedFloats(shape.inputs * out); }
  } else if (in != shape.inputs) {
    sum_ = AlignedFloats(shape.outputs * in);
  }
  if (head && !narrow()) { rows_ = AlignedFloats(chunk_rows * out); }
  out_ = AlignedFloats(chunk_rows * (head ? shape.outputs : out));
  delta_ = AlignedFloats(out_.size());
}

bool Dense::narrow() const { return head_ && shape_.outputs <= kNarrow; }

/// Vectors of the sum run along the longer side, which wastes the least on padding. A head's deltas
/// stand by column and can only be read one at a time.
bool Dense::sums_by_input() const {
  return !head_ && (shape_.by_input || shape_.inputs < shape_.outputs);
}

/// Whether weights and gradient can be used where they are.
bool Dense::lies_by_input() const { return shape_.by_input && width() == shape_.outputs; }

const float* Dense::by_input() const {
  return lies_by_input() ? weights_ + shape_.weight : by_input_.data();
}

const float* Dense::by_output() const {
  return by_output_copy_.size() > 0 ? by_output_copy_.data() : weights_ + shape_.weight;
}

Scattered Dense::deltas() const {
  return head_ ? Scattered{delta_.data(), 1, chunk_rows_} : Scattered{delta_.data(), width(), 1};
}

void Dense::bind(const float* weights, float* gradient, const Counted* counted) {
  weights_ = weights;
  gradient_ = gradient;
  counted_ = counted;
}

void Dense::pack() {
  const float* weight = weights_ + shape_.weight;
  if (shape_.by_input) {
    if (lies_by_input()) { return; }
    for (std::size_t i = 0; i < shape_.inputs; ++i) {
      std::copy_n(weight + i * shape_.outputs, shape_.outputs, by_input_.data() + i * width());
    }
    return;
  }
  if (by_input_.size() > 0) {
    transpose({.in = weight,
               .in_stride = shape_.inputs,
               .out = by_input_.data(),
               .out_stride = width(),
               .rows = shape_.outputs,
               .columns = shape_.inputs});
  }
  if (by_output_copy_.size() > 0) {
    for (std::size_t o = 0; o < shape_.outputs; ++o) {
      std::copy_n(weight + o * shape_.inputs, shape_.inputs,
                  by_output_copy_.data() + o * padded(shape_.inputs));
    }
  }
}

void Dense::forward(const Scattered& x, std::size_t rows) {
  if (counted_ != nullptr) { return forward_counted(x, rows); }
  const float* bias = weights_ + shape_.bias;
  if (narrow()) {
    return multiply_narrow({.a = x.data,
                            .b = by_output(),
                            .bias = bias,
                            .out = out_.data(),
                            .out_stride = chunk_rows_,
                            .rows = rows,
                            .width = padded(shape_.inputs),
                            .num_outputs = shape_.outputs});
  }
  float* out = head_ ? rows_.data() : out_.data();
  multiply({.a = x,
            .b = by_input(),
            .bias = bias,
            .out = out,
            .rows = rows,
            .depth = shape_.inputs,
            .width = width()});
  if (head_) {
    transpose({.in = out,
               .in_stride = width(),
               .out = out_.data(),
               .out_stride = chunk_rows_,
               .rows = rows,
               .columns = shape_.outputs});
  }
}

/// What is counted is looked up and summed, what is not is multiplied and added to it.
void Dense::forward_counted(const Scattered& x, std::size_t rows) {
  sum_rows({.lists = counted_->by_row(),
            .table = by_input(),
            .start = weights_ + shape_.bias,
            .out = out_.data(),
            .width = width()});
  for (const InputPart& part : counted_->parts()) {
    if (part.counts) { continue; }
    multiply({.a = {x.data + part.offset * x.column_stride, x.row_stride, x.column_stride},
              .b = by_input() + part.first_feature * width(),
              .out = out_.data(),
              .rows = rows,
              .depth = part.num_features,
              .width = width(),
              .add = true});
  }
}

void Dense::add_counted_gradient(const float* x, std::size_t rows, bool add) {
  sum_rows({.lists = counted_->by_feature(),
            .table = delta_.data(),
            .out = sum(),
            .width = width(),
            .add = add});
  for (const InputPart& part : counted_->parts()) {
    if (part.counts) { continue; }
    multiply_outer({.a = {x + part.offset, counted_->row_stride(), 1},
                    .b = delta_.data(),
                    .sum = sum() + part.first_feature * width(),
                    .rows = rows,
                    .depth = part.num_features,
                    .width = width(),
                    .add = add});
  }
}

void Dense::begin_gradient() {
  std::fill_n(gradient_ + shape_.bias, width(), 0.0F);
  gradient_is_old_ = true;
}

float* Dense::sum() const { return sum_.size() > 0 ? sum_.data() : gradient_ + shape_.weight; }

void Dense::add_gradient(const float* x, std::size_t rows) {
  const bool add = !std::exchange(gradient_is_old_, false);
  if (counted_ != nullptr) { return add_counted_gradient(x, rows, add); }
  const std::size_t in = padded(shape_.inputs);
  if (sums_by_input()) {
    multiply_outer({.a = {x, in, 1},
                    .b = delta_.data(),
                    .sum = sum(),
                    .rows = rows,
                    .depth = shape_.inputs,
                    .width = width(),
                    .add = add});
  } else {
    multiply_outer({.a = deltas(),
                    .b = x,
                    .sum = sum(),
                    .rows = rows,
                    .depth = shape_.outputs,
                    .width = in,
                    .add = add});
  }
}

void Dense::end_gradient() {
  if (std::exchange(gradient_is_old_, false)) {  // no rows came
    std::fill_n(gradient_ + shape_.weight, shape_.inputs * shape_.outputs, 0.0F);
    return;
  }
  if (sum_.size() == 0) { return; }
  float* gradient = gradient_ + shape_.weight;
  if (shape_.by_input) {
    for (std::size_t i = 0; i < shape_.inputs; ++i) {
      std::copy_n(sum_.data() + i * width(), shape_.outputs, gradient + i * shape_.outputs);
    }
    return;
  }
  if (sums_by_input()) {
    transpose({.in = sum_.data(),
               .in_stride = width(),
               .out = gradient,
               .out_stride = shape_.inputs,
               .rows = shape_.inputs,
               .columns = shape_.outputs});
    return;
  }
  for (std::size_t o = 0; o < shape_.outputs; ++o) {
    std::copy_n(sum_.data() + o * padded(shape_.inputs), shape_.inputs,
                gradient + o * shape_.inputs);
  }
}

void Dense::backward(float* dx, std::size_t rows, bool add) const {
  multiply({.a = deltas(),
            .b = by_output(),
            .out = dx,
            .rows = rows,
            .depth = shape_.outputs,
            .width = padded(shape_.inputs),
            .add = add});
}

}  // namespace penstock::fused
