#pragma once
#include <cstddef>

namespace penstock::fused {

/// sum += x. Both start on a cache line, as in all of these.
void add(float* sum, const float* x, std::size_t n);

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
void adam_step(const AdamStep& x);

}  // namespace penstock::fused
