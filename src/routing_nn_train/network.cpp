#include "penstock/routing_nn_train/network.h"

#include <ATen/ATen.h>

#include <cmath>

#include "penstock/routing_nn/features.h"

// Shapes: B tasks, N tokens, T steps, E width, H heads, D the width of a head, L layers.

namespace penstock::routing {
namespace {

constexpr double kEpsilon = 1e-6;
constexpr auto kNodes = static_cast<std::int64_t>(kNodeFeatures);
constexpr auto kEdges = static_cast<std::int64_t>(kEdgeFeatures);
constexpr auto kContext = static_cast<std::int64_t>(kContextFeatures);
constexpr auto kChoices = static_cast<std::int64_t>(kChoiceFeatures);

template <class T>
at::Tensor view_of(const std::vector<T>& values, at::IntArrayRef shape) {
  // from_blob wants a pointer to change; nothing is.
  auto* data = const_cast<T*>(values.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  return at::from_blob(data, shape, at::TensorOptions().dtype(c10::CppTypeToScalarType<T>::value));
}

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight) {
  return x * (x.square().mean(-1, true) + kEpsilon).rsqrt() * weight;
}

/// [B, X, E] to [B, H, X, D].
at::Tensor by_head(const at::Tensor& x, std::int64_t heads) {
  return x.unflatten(2, {heads, ModelShape::kHead}).transpose(1, 2);
}

/// [B, H, X, D] to [B, X, E].
at::Tensor together(const at::Tensor& x) {
  return x.transpose(1, 2).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
}

}  // namespace

Network::Network(Model& model, std::span<float> gradient) : shape_(model.shape()) {
  for (const Parameter& parameter : model.parameters()) {
    at::Tensor view = at::from_blob(model.weights().data() + parameter.offset, parameter.shape);
    view.set_requires_grad(true);
    view.mutable_grad() = at::from_blob(gradient.data() + parameter.offset, parameter.shape);
    parameters_.emplace(parameter.name, view);
  }
}

at::Tensor Network::linear(const std::string& name, const at::Tensor& x) const {
  return at::matmul(x, p(name + ".weight")) + p(name + ".bias");
}

std::vector<at::Tensor> Network::biases(const Exercise& exercise) const {
  const at::Tensor edges =
      view_of(exercise.edges, {exercise.tasks * exercise.tokens * exercise.tokens, kEdges});
  const auto map = [&](const char* name, const at::Tensor& x) {
    return at::addmm(p(std::string(name) + ".bias"), x, p(std::string(name) + ".weight"));
  };
  return map("edge.down", map("edge.up", edges).relu())
      .view({exercise.tasks, exercise.tokens, exercise.tokens, shape_.layers, shape_.heads})
      .permute({3, 0, 4, 1, 2})
      .unbind(0);
}

at::Tensor Network::block(std::int64_t layer, const at::Tensor& x, const at::Tensor& bias) const {
  const std::string prefix = "block." + std::to_string(layer);
  const std::int64_t width = shape_.width();
  const at::Tensor qkv = at::matmul(rms_norm(x, p(prefix + ".norm1")), p(prefix + ".qkv"));
  const std::vector<at::Tensor> parts = qkv.split(width, 2);
  const auto part = [&](std::size_t i) { return by_head(parts[i], shape_.heads); };
  const double scale = 1 / std::sqrt(static_cast<double>(ModelShape::kHead));
  const at::Tensor scores = at::matmul(part(0) * scale, part(1).transpose(2, 3)) + bias;
  const at::Tensor mixed = together(at::matmul(scores.softmax(-1), part(2)));
  const at::Tensor y = x + at::matmul(mixed, p(prefix + ".out"));
  const at::Tensor wide = linear(prefix + ".up", rms_norm(y, p(prefix + ".norm2"))).relu();
  return y + linear(prefix + ".down", wide);
}

at::Tensor Network::encode(const Exercise& exercise) const {
  const std::vector<at::Tensor> bias = biases(exercise);
  at::Tensor x =
      linear("embed", view_of(exercise.nodes, {exercise.tasks, exercise.tokens, kNodes}));
  for (std::int64_t layer = 0; layer < shape_.layers; ++layer) {
    x = block(layer, x, bias[static_cast<std::size_t>(layer)]);
  }
  return rms_norm(x, p("norm"));
}

at::Tensor Network::log_probabilities(const Exercise& exercise) const {
  const std::int64_t tasks = exercise.tasks;
  const std::int64_t tokens = exercise.tokens;
  const std::int64_t steps = exercise.steps;
  const std::int64_t width = shape_.width();
  const std::int64_t heads = shape_.heads;
  const at::Tensor nodes = encode(exercise);
  const at::Tensor decoder = at::matmul(nodes, p("decoder"));
  const std::vector<at::Tensor> parts = decoder.split(width, 2);

  const at::Tensor here = view_of(exercise.here, {tasks, steps, 1}).expand({tasks, steps, width});
  const at::Tensor query = linear("context", view_of(exercise.context, {tasks, steps, kContext})) +
                           at::matmul(nodes.mean(1, true), p("graph")) +
                           parts[3].gather(1, here);  // [B, T, E]
  const at::Tensor choices = view_of(exercise.choices, {tasks * steps * tokens, kChoices});
  const at::Tensor small = at::addmm(p("choice.up.bias"), choices, p("choice.up.weight")).relu();
  const at::Tensor bias = at::addmm(p("choice.down.bias"), small, p("choice.down.weight"))
                              .view({tasks, steps, tokens, heads + 1});
  const std::vector<at::Tensor> biases = bias.split_with_sizes({heads, 1}, 3);

  const double scale = 1 / std::sqrt(static_cast<double>(ModelShape::kHead));
  const at::Tensor closed = view_of(exercise.closed, {tasks, 1, steps, tokens});
  const at::Tensor keys = by_head(parts[0], heads) * scale;
  const at::Tensor scores = at::matmul(by_head(query, heads), keys.transpose(2, 3)) +
                            biases[0].permute({0, 3, 1, 2}) + closed;
  const at::Tensor glimpse = together(at::matmul(scores.softmax(-1), by_head(parts[1], heads)));
  const at::Tensor pointers = parts[2] * (1 / std::sqrt(static_cast<double>(width)));
  const at::Tensor logits = at::matmul(query + glimpse, pointers.transpose(1, 2)) +
                            biases[1].squeeze(3) +
                            view_of(exercise.forbidden, {tasks, steps, tokens});
  const at::Tensor chosen = view_of(exercise.chosen, {tasks, steps, 1});
  return logits.log_softmax(-1).gather(2, chosen).squeeze(2);
}

double Network::add_gradient(const Exercise& exercise, double scale) const {
  const at::Tensor weight = view_of(exercise.weight, {exercise.tasks, exercise.steps});
  const at::Tensor loss = (log_probabilities(exercise) * weight).sum() * -scale;
  loss.backward();
  return loss.item<double>();
}

}  // namespace penstock::routing
