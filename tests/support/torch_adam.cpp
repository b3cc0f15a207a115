#include "support/torch_adam.h"

#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adam.h>

struct TorchAdam::Impl {
  Impl(const std::vector<at::Tensor>& given, const torch::optim::AdamOptions& options)
      : parameters(given), adam(given, options) {}
  std::vector<at::Tensor> parameters;
  torch::optim::Adam adam;
};

TorchAdam::TorchAdam(const std::vector<at::Tensor>& parameters, double learning_rate,
                     double epsilon)
    : impl_(std::make_unique<Impl>(parameters,
                                   torch::optim::AdamOptions(learning_rate).eps(epsilon))) {}

TorchAdam::~TorchAdam() = default;

void TorchAdam::step(double max_grad_norm) {
  torch::nn::utils::clip_grad_norm_(impl_->parameters, max_grad_norm);
  impl_->adam.step();
}
