#include "penstock/core/fused/mlp.h"

#include <algorithm>

namespace penstock::fused {

std::size_t MlpShape::num_looked_up() const {
  std::size_t outputs = 0;
  for (const auto* stack : {&trunk, &actor, &critic}) {
    if (!stack->empty() && stack->front().by_input) { outputs += stack->front().outputs; }
  }
  std::size_t features = 0;
  for (const InputPart& part : parts) { features += part.counts ? part.num_features : 0; }
  return features * outputs;
}

Mlp::Mlp(const MlpShape& shape, const float* weights, float* gradient)
    : shape_(shape),
      weights_(weights),
      gradient_(gradient),
      counted_(shape.parts.empty() ? nullptr : std::make_unique<Counted>(shape.parts)),
      trunk_(make_stack(shape.trunk, false, true)),
      actor_(make_stack(shape.actor, true, shape.trunk.empty())),
      critic_(make_stack(shape.critic, true, shape.trunk.empty())),
      input_(kChunk * padded(shape.row_size)) {
  pack({});
}

/// `first`: the stack reads rows.
Mlp::Stack Mlp::make_stack(const std::vector<LinearShape>& layers, bool ends_in_head,
                           bool first) const {
  Stack stack;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    stack.emplace_back(layers[i], ends_in_head && i + 1 == layers.size(), kChunk);
    stack.back().bind(weights_, gradient_, first && i == 0 ? counted_.get() : nullptr);
  }
  return stack;
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
  const Scattered x{input_.data(), padded(shape_.row_size), 1};
  if (counted_) { counted_->read(x, rows, true); }
  forward_from(x, rows, parts);
}

void Mlp::infer(const float* obs, std::size_t num_rows, float* params, float* value) {
  const std::size_t features = shape_.row_size;
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
    if (counted_) { counted_->read(x, rows, false); }
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

template <class Visit>
void Mlp::for_each_layer(Parts parts, const Visit& visit) {
  for (Stack* stack : {&trunk_, &actor_, &critic_}) {
    if ((stack == &actor_ && !parts.actor) || (stack == &critic_ && !parts.critic)) { continue; }
    for (Dense& layer : *stack) { visit(layer); }
  }
}

void Mlp::pack(Parts parts) {
  for_each_layer(parts, [](Dense& layer) { layer.pack(); });
}

void Mlp::use(const float* weights) {
  weights_ = weights;
  for_each_layer({}, [weights](Dense& layer) { layer.use(weights); });
  pack({});
}

void Mlp::begin_gradient(Parts parts) {
  for_each_layer(parts, [](Dense& layer) { layer.begin_gradient(); });
  if (shape_.log_std != MlpShape::kNone && parts.actor) {
    std::fill_n(log_std_gradient(), padded(num_outputs()), 0.0F);
  }
}

void Mlp::end_gradient(Parts parts) {
  for_each_layer(parts, [](Dense& layer) { layer.end_gradient(); });
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
