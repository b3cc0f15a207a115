#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "penstock/routing_nn/model.h"
#include "penstock/routing_nn_train/exercise.h"

namespace penstock::routing {

/// The network of a model as a graph of torch, for learning: what Planner computes, for whole
/// constructions at once. Weights are views of the model's; gradients are added to a flat buffer of
/// the same layout. One thread at a time.
class Network {
 public:
  /// Both must outlive the network; `gradient` has as many floats as the model and starts at zero.
  Network(Model& model, std::span<float> gradient);

  /// [B, T]: the log-probabilities of what was chosen.
  at::Tensor log_probabilities(const Exercise& exercise) const;
  /// Adds the gradient of -sum(weight * log-probability) * scale, and returns that sum without the
  /// weights' signs undone: the loss.
  double add_gradient(const Exercise& exercise, double scale) const;

 private:
  [[nodiscard]] const at::Tensor& p(const std::string& name) const { return parameters_.at(name); }
  [[nodiscard]] at::Tensor linear(const std::string& name, const at::Tensor& x) const;
  [[nodiscard]] at::Tensor encode(const Exercise& exercise) const;  // [B, N, E]
  /// Of each layer: [B, H, N, N].
  [[nodiscard]] std::vector<at::Tensor> biases(const Exercise& exercise) const;
  [[nodiscard]] at::Tensor block(std::int64_t layer, const at::Tensor& x,
                                 const at::Tensor& bias) const;

  ModelShape shape_;
  std::map<std::string, at::Tensor> parameters_;
};

}  // namespace penstock::routing
