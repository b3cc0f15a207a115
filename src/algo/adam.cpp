#include "penstock/algo/adam.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

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
  const auto steps = static_cast<double>(num_steps_);
  const double correction1 = 1 - std::pow(options_.beta1, steps);
  const double correction2 = 1 - std::pow(options_.beta2, steps);
  const at::Tensor deviation = square.sqrt().div_(std::sqrt(correction2)).add_(options_.epsilon);
  part(policy_.weights()).addcdiv_(mean, deviation, -learning_rate / correction1);
}

}  // namespace penstock
