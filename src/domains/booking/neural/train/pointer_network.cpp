#include "penstock/domains/booking/neural/train/pointer_network.h"

#include <ATen/ATen.h>

#include <cmath>

#include "penstock/domains/booking/neural/features.h"

// Shapes: B tasks, N tokens, T steps, E width, H heads, D the width of a head, L layers.

namespace penstock::booking {
namespace {

constexpr double kEpsilon = 1e-6;
constexpr std::int64_t kNodes = kNodeFeatures;
constexpr std::int64_t kEdges = kEdgeFeatures;
constexpr std::int64_t kContext = kContextFeatures;
constexpr std::int64_t kChoices = kChoiceFeatures;

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

PointerNetwork::PointerNetwork(Model& model, std::span<float> gradient) : shape_(model.shape()) {
  for (const Parameter& parameter : model.parameters()) {
    at::Tensor view = at::from_blob(model.weights().data() + parameter.offset, parameter.shape);
    view.set_requires_grad(true);
    view.mutable_grad() = at::from_blob(gradient.data() + parameter.offset, parameter.shape);
    parameters_.emplace(parameter.name, view);
  }
}

at::Tensor PointerNetwork::linear(const std::string& name, const at::Tensor& x) const {
  return at::matmul(x, p(name + ".weight")) + p(name + ".bias");
}

std::vector<at::Tensor> PointerNetwork::biases(const TrainingBatch& batch) const {
  const at::Tensor edges =
      view_of(batch.edges, {batch.tasks * batch.tokens * batch.tokens, kEdges});
  const auto map = [&](const char* name, const at::Tensor& x) {
    return at::addmm(p(std::string(name) + ".bias"), x, p(std::string(name) + ".weight"));
  };
  return map("edge.down", map("edge.up", edges).relu())
      .view({batch.tasks, batch.tokens, batch.tokens, shape_.layers, shape_.heads})
      .permute({3, 0, 4, 1, 2})
      .unbind(0);
}

at::Tensor PointerNetwork::block(std::int64_t layer, const at::Tensor& x,
                                 const at::Tensor& bias) const {
  const std::string prefix = "block." + std::to_string(layer);
  const std::int64_t width = shape_.width();
  const at::Tensor qkv = at::matmul(rms_norm(x, p(prefix + ".norm1")), p(prefix + ".qkv"));
  const std::vector<at::Tensor> parts = qkv.split(width, 2);
  const auto part = [&](std::size_t i) { return by_head(parts[i], shape_.heads); };
  const double scale = 1 / std::sqrt(ModelShape::kHead);
  const at::Tensor scores = at::matmul(part(0) * scale, part(1).transpose(2, 3)) + bias;
  const at::Tensor mixed = together(at::matmul(scores.softmax(-1), part(2)));
  const at::Tensor y = x + at::matmul(mixed, p(prefix + ".out"));
  const at::Tensor wide = linear(prefix + ".up", rms_norm(y, p(prefix + ".norm2"))).relu();
  return y + linear(prefix + ".down", wide);
}

at::Tensor PointerNetwork::encode(const TrainingBatch& batch) const {
  const std::vector<at::Tensor> bias = biases(batch);
  at::Tensor x = linear("embed", view_of(batch.nodes, {batch.tasks, batch.tokens, kNodes}));
  for (std::int64_t layer = 0; layer < shape_.layers; ++layer) {
    x = block(layer, x, bias[static_cast<std::size_t>(layer)]);
  }
  return rms_norm(x, p("norm"));
}

at::Tensor PointerNetwork::log_probabilities(const TrainingBatch& batch) const {
  const std::int64_t tasks = batch.tasks;
  const std::int64_t tokens = batch.tokens;
  const std::int64_t steps = batch.steps;
  const std::int64_t width = shape_.width();
  const std::int64_t heads = shape_.heads;
  const at::Tensor nodes = encode(batch);
  const at::Tensor decoder = at::matmul(nodes, p("decoder"));
  const std::vector<at::Tensor> parts = decoder.split(width, 2);

  const at::Tensor here = view_of(batch.here, {tasks, steps, 1}).expand({tasks, steps, width});
  const at::Tensor query = linear("context", view_of(batch.context, {tasks, steps, kContext})) +
                           at::matmul(nodes.mean(1, true), p("graph")) +
                           parts[3].gather(1, here);  // [B, T, E]
  const at::Tensor choices = view_of(batch.choices, {tasks * steps * tokens, kChoices});
  const at::Tensor small = at::addmm(p("choice.up.bias"), choices, p("choice.up.weight")).relu();
  const at::Tensor bias = at::addmm(p("choice.down.bias"), small, p("choice.down.weight"))
                              .view({tasks, steps, tokens, heads + 1});
  const std::vector<at::Tensor> biases = bias.split_with_sizes({heads, 1}, 3);

  const double scale = 1 / std::sqrt(static_cast<double>(ModelShape::kHead));
  const at::Tensor closed = view_of(batch.closed, {tasks, 1, steps, tokens});
  const at::Tensor keys = by_head(parts[0], heads) * scale;
  const at::Tensor scores = at::matmul(by_head(query, heads), keys.transpose(2, 3)) +
                            biases[0].permute({0, 3, 1, 2}) + closed;
  const at::Tensor glimpse = together(at::matmul(scores.softmax(-1), by_head(parts[1], heads)));
  const at::Tensor pointers = parts[2] * (1 / std::sqrt(width));
  const at::Tensor logits = at::matmul(query + glimpse, pointers.transpose(1, 2)) +
                            biases[1].squeeze(3) + view_of(batch.forbidden, {tasks, steps, tokens});
  const at::Tensor chosen = view_of(batch.chosen, {tasks, steps, 1});
  return logits.log_softmax(-1).gather(2, chosen).squeeze(2);
}

double PointerNetwork::add_gradient(const TrainingBatch& batch, double scale) const {
  const at::Tensor weight = view_of(batch.weight, {batch.tasks, batch.steps});
  const at::Tensor loss = (log_probabilities(batch) * weight).sum() * -scale;
  loss.backward();
  return loss.item<double>();
}

}  // namespace penstock::booking
