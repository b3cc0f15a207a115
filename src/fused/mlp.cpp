#include "penstock/fused/mlp.h"

#include <algorithm>
#include <array>

namespace penstock::fused {
namespace {

// Heads of at most this many outputs are dot products; wider ones fill vectors well enough.
constexpr std::size_t kNarrow = 4;

}  // namespace

Dense::Dense(const LinearShape& shape, bool head, std::size_t chunk_rows)
    : shape_(shape), head_(head), chunk_rows_(chunk_rows) {
  const std::size_t in = padded(shape.inputs);
  const std::size_t out = padded(shape.outputs);
  if (!narrow()) { by_input_ = AlignedFloats(shape.inputs * out); }
  if (in != shape.inputs) { by_output_copy_ = AlignedFloats(shape.outputs * in); }
  if (sums_by_input()) {
    sum_ = AlignedFloats(shape.inputs * out);
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
bool Dense::sums_by_input() const { return !head_ && shape_.inputs < shape_.outputs; }

const float* Dense::by_output() const {
  return by_output_copy_.size() > 0 ? by_output_copy_.data() : weights_ + shape_.weight;
}

Scattered Dense::deltas() const {
  return head_ ? Scattered{delta_.data(), 1, chunk_rows_} : Scattered{delta_.data(), width(), 1};
}

void Dense::bind(const float* weights, float* gradient) {
  weights_ = weights;
  gradient_ = gradient;
}

void Dense::pack() {
  const float* weight = weights_ + shape_.weight;
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
            .b = by_input_.data(),
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

void Dense::begin_gradient() {
  std::fill_n(gradient_ + shape_.weight, padded(shape_.inputs * shape_.outputs), 0.0F);
  std::fill_n(gradient_ + shape_.bias, width(), 0.0F);
  std::fill_n(sum_.data(), sum_.size(), 0.0F);
}

void Dense::add_gradient(const float* x, std::size_t rows) {
  float* sum = sum_.size() > 0 ? sum_.data() : gradient_ + shape_.weight;
  const std::size_t in = padded(shape_.inputs);
  if (sums_by_input()) {
    add_outer({.a = {x, in, 1},
               .b = delta_.data(),
               .sum = sum,
               .rows = rows,
               .depth = shape_.inputs,
               .width = width()});
  } else {
    add_outer(
        {.a = deltas(), .b = x, .sum = sum, .rows = rows, .depth = shape_.outputs, .width = in});
  }
}

void Dense::end_gradient() {
  if (sum_.size() == 0) { return; }
  float* gradient = gradient_ + shape_.weight;
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

Mlp::Mlp(const MlpShape& shape, const float* weights, float* gradient)
    : shape_(shape),
      weights_(weights),
      gradient_(gradient),
      trunk_(make_stack(shape.trunk, false)),
      actor_(make_stack(shape.actor, true)),
      critic_(make_stack(shape.critic, true)),
      input_(kChunk * padded(shape.num_features)) {
  pack();
}

Mlp::Stack Mlp::make_stack(const std::vector<LinearShape>& layers, bool ends_in_head) const {
  Stack stack;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    stack.emplace_back(layers[i], ends_in_head && i + 1 == layers.size(), kChunk);
    stack.back().bind(weights_, gradient_);
  }
  return stack;
}

void Mlp::pack() {
  for (Stack* stack : {&trunk_, &actor_, &critic_}) {
    for (Dense& layer : *stack) { layer.pack(); }
  }
}

void Mlp::forward_stack(Stack& stack, Scattered x, std::size_t rows) const {
  const bool head = &stack != &trunk_;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    Dense& layer = stack[i];
    layer.forward(x, rows);
    if (head && i + 1 == stack.size()) { return; }
    activate(shape_.activation, layer.out(), rows * layer.width());
    x = {layer.out(), layer.width(), 1};
  }
}

Scattered Mlp::trunk_output(const Scattered& obs) const {
  return trunk_.empty() ? obs : Scattered{trunk_.back().out(), trunk_.back().width(), 1};
}

void Mlp::forward_from(const Scattered& obs, std::size_t rows, Parts parts) {
  forward_stack(trunk_, obs, rows);
  if (parts.actor) {
    forward_stack(actor_, trunk_output(obs), rows);
    add_skip(obs, rows);
  }
  if (parts.critic) { forward_stack(critic_, trunk_output(obs), rows); }
}

/// Constant as far as weights go, so backward() need not know.
void Mlp::add_skip(const Scattered& obs, std::size_t rows) {
  if (shape_.skip == MlpShape::kNone) { return; }
  for (std::size_t o = 0; o < num_outputs(); ++o) {
    float* out = actor_.back().out() + o * kChunk;
    const float* x = obs.data + (shape_.skip + o) * obs.column_stride;
    for (std::size_t r = 0; r < rows; ++r) { out[r] += shape_.skip_scale * x[r * obs.row_stride]; }
  }
}

void Mlp::forward(std::size_t rows, Parts parts) {
  forward_from({input_.data(), padded(shape_.num_features), 1}, rows, parts);
}

void Mlp::infer(const float* obs, std::size_t num_rows, float* params, float* value) {
  const std::size_t features = shape_.num_features;
  const std::size_t outputs = num_outputs();
  const bool box = shape_.log_std != MlpShape::kNone;
  const std::size_t num_params = box ? 2 * outputs : outputs;
  const bool pads =
      trunk_.empty() && (actor_[0].wants_padded_rows() || critic_[0].wants_padded_rows());
  for (std::size_t first = 0; first < num_rows; first += kChunk) {
    const std::size_t rows = std::min(kChunk, num_rows - first);
    Scattered x{obs + first * features, features, 1};
    if (pads) {
      for (std::size_t r = 0; r < rows; ++r) {
        std::copy_n(x.data + r * features, features, input_.data() + r * padded(features));
      }
      x = {input_.data(), padded(features), 1};
    }
    forward_from(x, rows, {.actor = params != nullptr, .critic = value != nullptr});
    if (value != nullptr) { std::copy_n(critic_.back().out(), rows, value + first); }
    if (params == nullptr) { continue; }
    float* out = params + first * num_params;
    transpose({.in = actor_.back().out(),
               .in_stride = kChunk,
               .out = out,
               .out_stride = num_params,
               .rows = outputs,
               .columns = rows});
    for (std::size_t r = 0; box && r < rows; ++r) {
      std::copy_n(log_std(), outputs, out + r * num_params + outputs);
    }
  }
}

void Mlp::begin_gradient() {
  for (Stack* stack : {&trunk_, &actor_, &critic_}) {
    for (Dense& layer : *stack) { layer.begin_gradient(); }
  }
  if (shape_.log_std != MlpShape::kNone) {
    std::fill_n(log_std_gradient(), padded(num_outputs()), 0.0F);
  }
}

void Mlp::end_gradient() {
  for (Stack* stack : {&trunk_, &actor_, &critic_}) {
    for (Dense& layer : *stack) { layer.end_gradient(); }
  }
}

/// From the deltas of the stack's last layer down; `dx` null: nobody asks for the input's gradient.
void Mlp::backward_stack(Stack& stack, const float* x, std::size_t rows, float* dx,
                         bool add) const {
  for (std::size_t i = stack.size(); i-- > 0;) {
    Dense& layer = stack[i];
    layer.add_gradient(i > 0 ? stack[i - 1].out() : x, rows);
    if (i == 0) {
      if (dx != nullptr) { layer.backward(dx, rows, add); }
      return;
    }
    Dense& below = stack[i - 1];
    layer.backward(below.delta(), rows, false);
    activation_gradient(shape_.activation, {.output = below.out(),
                                            .gradient = below.delta(),
                                            .column_sums = below.bias_gradient(),
                                            .rows = rows,
                                            .width = below.width()});
  }
}

void Mlp::backward(std::size_t rows, Parts parts) {
  for (Stack* stack : {&actor_, &critic_}) {
    if (stack == &actor_ ? !parts.actor : !parts.critic) { continue; }
    Dense& head = stack->back();
    for (std::size_t o = 0; o < head.num_outputs(); ++o) {
      const float* delta = head.delta() + o * kChunk;
      float sum = 0;
      for (std::size_t r = 0; r < rows; ++r) { sum += delta[r]; }
      head.bias_gradient()[o] += sum;
    }
  }
  if (trunk_.empty()) {
    if (parts.actor) { backward_stack(actor_, input_.data(), rows, nullptr, false); }
    if (parts.critic) { backward_stack(critic_, input_.data(), rows, nullptr, false); }
    return;
  }
  Dense& top = trunk_.back();
  if (parts.actor) { backward_stack(actor_, top.out(), rows, top.delta(), false); }
  if (parts.critic) { backward_stack(critic_, top.out(), rows, top.delta(), parts.actor); }
  activation_gradient(shape_.activation, {.output = top.out(),
                                          .gradient = top.delta(),
                                          .column_sums = top.bias_gradient(),
                                          .rows = rows,
                                          .width = top.width()});
  backward_stack(trunk_, input_.data(), rows, nullptr, false);
}

}  // namespace penstock::fused
