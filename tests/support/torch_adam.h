#pragma once
#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

/// torch's own Adam, apart: torch's optimisers cost a minute of compiling wherever they are
/// included.
class TorchAdam {
 public:
  TorchAdam(const std::vector<at::Tensor>& parameters, double learning_rate, double epsilon);
  ~TorchAdam();
  TorchAdam(const TorchAdam&) = delete;
  TorchAdam& operator=(const TorchAdam&) = delete;

  /// One step along the gradients, which are scaled down to `max_grad_norm` first.
  void step(double max_grad_norm);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
