#include "penstock/algo/adam.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "penstock/fused/adam.h"
#include "penstock/rollout/shards.h"

namespace penstock {
namespace {

// Floats per chunk: small networks are one chunk, a 100 MB one is 400, and a chunk of gradient,
// weight and two moments fits a core's second-level cache.
constexpr std::int64_t kChunk = 64 * 1024;

}  // namespace

Adam::Adam(Policy& policy, ThreadPool& pool, const Options& options)
    : policy_(policy),
      pool_(pool),
      options_(options),
      exp_avg_(at::zeros_like(policy.weights())),
      exp_avg_sq_(at::zeros_like(policy.weights())),
      squares_(at::zeros({(policy.weights().numel() + kChunk - 1) / kChunk},
                         policy.weights().options())) {}

template <class Work>
void Adam::for_each_chunk(const Work& work) const {
  const std::int64_t total = policy_.weights().numel();
  pool_.run(static_cast<std::size_t>(squares_.numel()), [&](std::size_t i) {
    const c10::NoGradGuard no_grad;
    const std::int64_t start = static_cast<std::int64_t>(i) * kChunk;
    work(static_cast<std::int64_t>(i), start, std::min(kChunk, total - start));
  });
}

void Adam::step(double learning_rate) {
  ++num_steps_;
  if (policy_.device().is_cpu()) {
    step_on_cpu(learning_rate);
  } else {
    step_on_device(learning_rate);
  }
  policy_.weights_changed();
}

void Adam::step_on_cpu(double learning_rate) {
  const auto at = [](const at::Tensor& flat, std::int64_t start) {
    return flat.data_ptr<float>() + start;
  };
  for_each_chunk([&](std::int64_t chunk, std::int64_t start, std::int64_t size) {
    std::vector<float*> parts;
    for (std::size_t s = 0; s < policy_.num_shards(); ++s) {
      parts.push_back(at(policy_.gradient(s), start));
    }
    const auto n = static_cast<std::size_t>(size);
    tree_reduce(std::span(parts), [n](float* a, const float* b) { fused::add(a, b, n); });
    *at(squares_, chunk) = fused::sum_of_squares(parts[0], n);
  });
  double square = 0;
  for (std::int64_t chunk = 0; chunk < squares_.numel(); ++chunk) {
    square += *at(squares_, chunk);
  }
  const double limit = options_.max_grad_norm;
  const double scale = limit > 0 ? std::min(1.0, limit / (std::sqrt(square) + 1e-6)) : 1.0;
  for_each_chunk([&](std::int64_t, std::int64_t start, std::int64_t size) {
    fused::adam_step({.weight = at(policy_.weights(), start),
                      .gradient = at(policy_.gradient(0), start),
                      .exp_avg = at(exp_avg_, start),
                      .exp_avg_sq = at(exp_avg_sq_, start),
                      .n = static_cast<std::size_t>(size),
                      .scale = static_cast<float>(scale),
                      .beta1 = static_cast<float>(options_.beta1),
                      .one_minus_beta1 = static_cast<float>(1 - options_.beta1),
                      .beta2 = static_cast<float>(options_.beta2),
                      .one_minus_beta2 = static_cast<float>(1 - options_.beta2),
                      .epsilon = static_cast<float>(options_.epsilon),
                      .step_size = static_cast<float>(learning_rate / correction(options_.beta1)),
                      .inverse_root_correction2 =
                          static_cast<float>(1.0 / std::sqrt(correction(options_.beta2)))});
  });
}

/// How far a moment that started at zero has come.
double Adam::correction(double beta) const {
  return 1 - std::pow(beta, static_cast<double>(num_steps_));
}

void Adam::step_on_device(double learning_rate) {
  sum_gradients();
  const at::Tensor scale = clip_scale();
  for_each_chunk([&](std::int64_t, std::int64_t start, std::int64_t size) {
    move_chunk(start, size, scale, learning_rate);
  });
}

void Adam::sum_gradients() {
  for_each_chunk([this](std::int64_t chunk, std::int64_t start, std::int64_t size) {
    std::vector<at::Tensor> parts;
    for (std::size_t s = 0; s < policy_.num_shards(); ++s) {
      parts.push_back(policy_.gradient(s).narrow(0, start, size));
    }
    tree_reduce(std::span(parts), [](at::Tensor& a, const at::Tensor& b) { a.add_(b); });
    if (options_.max_grad_norm > 0) { squares_[chunk].copy_(parts[0].dot(parts[0])); }
  });
}

/// A tensor rather than a number: reading it would make a device wait.
at::Tensor Adam::clip_scale() const {
  if (options_.max_grad_norm <= 0) { return {}; }
  const at::Tensor norm = squares_.sum().sqrt();
  return (options_.max_grad_norm / (norm + 1e-6)).clamp_max(1.0);
}

void Adam::move_chunk(std::int64_t start, std::int64_t size, const at::Tensor& scale,
                      double learning_rate) const {
  const auto part = [&](const at::Tensor& flat) { return flat.narrow(0, start, size); };
  at::Tensor gradient = part(policy_.gradient(0));
  if (scale.defined()) { gradient.mul_(scale); }
  at::Tensor mean = part(exp_avg_);
  at::Tensor square = part(exp_avg_sq_);
  mean.mul_(options_.beta1).add_(gradient, 1 - options_.beta1);
  square.mul_(options_.beta2).addcmul_(gradient, gradient, 1 - options_.beta2);
  const at::Tensor deviation =
      square.sqrt().div_(std::sqrt(correction(options_.beta2))).add_(options_.epsilon);
  part(policy_.weights()).addcdiv_(mean, deviation, -learning_rate / correction(options_.beta1));
}

}  // namespace penstock
