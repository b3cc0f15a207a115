#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "penstock/domains/booking/neural/model.h"
#include "penstock/domains/booking/neural/train/training_batch.h"

namespace penstock::booking {

/// The network of a model as a graph of torch, for learning: what Planner computes, for whole
/// constructions at once. Weights are views of the model's; gradients are added to a flat buffer of
/// the same layout. One thread at a time.
class PointerNetwork {
 public:
  /// Both must outlive the network; `gradient` has as many floats as the model and starts at zero.
  PointerNetwork(Model& model, std::span<float> gradient);

  /// [B, T]: the log-probabilities of what was chosen.
  at::Tensor log_probabilities(const TrainingBatch& batch) const;
  /// Returns the loss, -sum(weight * log-probability) * scale, and adds its gradient.
  double add_gradient(const TrainingBatch& batch, double scale) const;

 private:
  [[nodiscard]] const at::Tensor& p(const std::string& name) const { return parameters_.at(name); }
  [[nodiscard]] at::Tensor linear(const std::string& name, const at::Tensor& x) const;
  [[nodiscard]] at::Tensor encode(const TrainingBatch& batch) const;  // [B, N, E]
  /// Of each layer: [B, H, N, N].
  [[nodiscard]] std::vector<at::Tensor> biases(const TrainingBatch& batch) const;
  [[nodiscard]] at::Tensor block(std::int64_t layer, const at::Tensor& x,
                                 const at::Tensor& bias) const;

  ModelShape shape_;
  std::map<std::string, at::Tensor> parameters_;
};

}  // namespace penstock::booking
