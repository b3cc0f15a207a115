#pragma once
#include <cstddef>

namespace penstock::fused {

/// sum += x. Both start on a cache line, as in all of these.
void add(float* sum, const float* x, std::size_t n);

/// The order of additions is fixed for an instruction set.
float sum_of_squares(const float* x, std::size_t n);

/// Adam's step on n numbers: moments decay towards scale * gradient, weights move.
struct AdamStep {
  float* weight = nullptr;
  const float* gradient = nullptr;
  float* exp_avg = nullptr;
  float* exp_avg_sq = nullptr;
  std::size_t n = 0;
  float scale = 1;  // of the gradient, from clipping
  float beta1 = 0.9F;
  float one_minus_beta1 = 0.1F;  // given, as 1 - 0.999F is off by 1e-5 of itself
  float beta2 = 0.999F;
  float one_minus_beta2 = 0.001F;
  float epsilon = 1e-5F;
  float step_size = 1e-3F;             // learning rate / (1 - beta1^t)
  float inverse_root_correction2 = 1;  // 1 / sqrt(1 - beta2^t)
};
/// In place; the gradient is only read.
void adam_step(const AdamStep& x);

/// Many of Adam's steps without a gradient: the moments decay and move the weights on. As
/// adam_step() one by one, but for rounding: once no weight of a vector moves any more, the moments
/// fade at once.
struct AdamIdleSteps {
  float* weight = nullptr;
  float* exp_avg = nullptr;
  float* exp_avg_sq = nullptr;
  std::size_t n = 0;
  std::size_t num_steps = 0;
  const float* step_size = nullptr;                 // [num_steps]
  const float* inverse_root_correction2 = nullptr;  // [num_steps]
  const float* beta1_power = nullptr;               // [num_steps + 1]: 1, beta1, ...
  const float* beta2_power = nullptr;               // [num_steps + 1]
  float epsilon = 1e-5F;
};
/// In place.
void adam_idle_steps(const AdamIdleSteps& x);

}  // namespace penstock::fused
