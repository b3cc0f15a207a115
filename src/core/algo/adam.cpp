#include "penstock/core/algo/adam.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/tree_reduce.h"
#include "penstock/core/fused/adam.h"

namespace penstock {
namespace {

// Floats per chunk: small networks are one chunk, a 100 MB one is 400, and a chunk of gradient,
// weight and two moments fits a core's second-level cache.
constexpr std::int64_t kChunk = 64 * 1024;

float* floats_at(const at::Tensor& flat, std::int64_t start) {
  return flat.data_ptr<float>() + start;
}

}  // namespace

Adam::Adam(Policy& policy, ThreadPool& pool, Peers& peers, const Options& options)
    : policy_(policy),
      pool_(pool),
      peers_(peers),
      options_(options),
      exp_avg_(at::zeros_like(policy.weights())),
      exp_avg_sq_(at::zeros_like(policy.weights())),
      squares_(at::zeros({(policy.weights().numel() + kChunk - 1) / kChunk},
                         policy.weights().options())) {
  for (const ParameterSlot& slot : policy.slots()) {
    if (runs_.empty() || runs_.back().serves != slot.serves) {
      if (!runs_.empty()) { runs_.back().end = slot.offset; }
      runs_.push_back({slot.offset, policy.weights().numel(), slot.serves});
    }
  }
}

template <class Work>
void Adam::for_each_chunk(const Work& work) const {
  const std::int64_t total = policy_.weights().numel();
  pool_.run(squares_.numel(), [&](std::size_t i) {
    const c10::NoGradGuard no_grad;
    const std::int64_t start = static_cast<std::int64_t>(i) * kChunk;
    work(static_cast<std::int64_t>(i), start, std::min(kChunk, total - start));
  });
}

/// What is learnt in the stretch of the flat buffers: the whole of it, or run by run.
template <class Work>
void Adam::for_each_run(std::int64_t start, std::int64_t size, Outputs learnt,
                        const Work& work) const {
  if (learnt == Outputs::both) { return work(start, size); }
  for (const Run& run : runs_) {
    const std::int64_t first = std::max(start, run.start);
    const std::int64_t last = std::min(start + size, run.end);
    const bool learns = run.serves == Outputs::both || run.serves == learnt;
    if (learns && first < last) { work(first, last - first); }
  }
}

bool Adam::step(double learning_rate, Outputs learnt) {
  if (!policy_.device().is_cpu()) {
    ++num_steps_;
    step_on_device(learning_rate);
    policy_.weights_changed();
    return true;
  }
  const double norm = sum_on_cpu(learnt);
  if (!std::isfinite(norm)) { return false; }
  const Outputs idle = learnt == Outputs::both    ? Outputs::both
                       : learnt == Outputs::value ? Outputs::policy
                                                  : Outputs::value;
  if (idle != idle_) { catch_up(); }
  ++num_steps_;
  idle_ = idle;
  if (idle != Outputs::both) { rates_.push_back(learning_rate); }
  move_on_cpu(learning_rate, learnt, norm);
  policy_.weights_changed();
  return true;
}

// Called when other outputs are idle than in the steps before, and at the end of an update. In
// between the weights of idle parameters are old, which nobody notices: no pass of an epoch reads
// them.
void Adam::catch_up() {
  for (const Run& run : runs_) {
    if (run.serves == idle_ && !rates_.empty()) { apply_idle_steps(run); }
  }
  idle_ = Outputs::both;
  if (!rates_.empty()) { policy_.weights_changed(); }
  rates_.clear();
}

// An epoch of the value alone leaves the actor's gradient at zero, yet Adam with momentum would
// still move the actor in each of its steps. Doing so step by step costs as much as learning it.
// With a zero gradient the moments are known in advance, m beta1^i and v beta2^i, so the steps
// missed (rates_, the last ones that were made) are summed up in one pass over the weights when
// they are needed again.
/// Moves a run of parameters by the steps that it has missed.
void Adam::apply_idle_steps(const Run& run) const {
  const std::size_t count = rates_.size();
  std::vector<float> step_size;
  std::vector<float> root;
  std::vector<float> power1 = {1};
  std::vector<float> power2 = {1};
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t step = num_steps_ - (count - 1 - i);
    step_size.push_back(rates_[i] / correction(options_.beta1, step));
    root.push_back(1.0 / std::sqrt(correction(options_.beta2, step)));
    const double exponent = i + 1;
    power1.push_back(std::pow(options_.beta1, exponent));
    power2.push_back(std::pow(options_.beta2, exponent));
  }
  for_each_chunk([&](std::int64_t, std::int64_t start, std::int64_t size) {
    const std::int64_t first = std::max(start, run.start);
    const std::int64_t last = std::min(start + size, run.end);
    if (first >= last) { return; }
    fused::adam_idle_steps({.weight = policy_.weights().data_ptr<float>() + first,
                            .exp_avg = exp_avg_.data_ptr<float>() + first,
                            .exp_avg_sq = exp_avg_sq_.data_ptr<float>() + first,
                            .n = static_cast<std::size_t>(last - first),
                            .num_steps = count,
                            .step_size = step_size.data(),
                            .inverse_root_correction2 = root.data(),
                            .beta1_power = power1.data(),
                            .beta2_power = power2.data(),
                            .epsilon = static_cast<float>(options_.epsilon)});
  });
}

/// The shards' gradients into shard 0's; the norm of the sum.
double Adam::sum_on_cpu(Outputs learnt) {
  for_each_chunk([&](std::int64_t chunk, std::int64_t start, std::int64_t size) {
    *floats_at(squares_, chunk) = 0;
    for_each_run(start, size, learnt, [&](std::int64_t first, std::int64_t count) {
      std::vector<float*> parts;
      for (std::size_t s = 0; s < policy_.num_shards(); ++s) {
        parts.push_back(floats_at(policy_.gradient(s), first));
      }
      const std::size_t n = count;
      tree_reduce(std::span(parts), [n](float* a, const float* b) { fused::add(a, b, n); });
      if (peers_.alone()) { *floats_at(squares_, chunk) += fused::sum_of_squares(parts[0], n); }
    });
  });
  if (!peers_.alone()) { sum_over_peers(learnt); }
  double square = 0;
  for (std::int64_t chunk = 0; chunk < squares_.numel(); ++chunk) {
    square += *floats_at(squares_, chunk);
  }
  return std::sqrt(square);
}

void Adam::move_on_cpu(double learning_rate, Outputs learnt, double norm) {
  const double limit = options_.max_grad_norm;
  const double scale = limit > 0 ? std::min(1.0, limit / (norm + 1e-6)) : 1.0;
  const auto move = [&](std::int64_t first, std::int64_t count) {
    fused::adam_step(
        {.weight = floats_at(policy_.weights(), first),
         .gradient = floats_at(policy_.gradient(0), first),
         .exp_avg = floats_at(exp_avg_, first),
         .exp_avg_sq = floats_at(exp_avg_sq_, first),
         .n = static_cast<std::size_t>(count),
         .scale = static_cast<float>(scale),
         .beta1 = static_cast<float>(options_.beta1),
         .one_minus_beta1 = static_cast<float>(1 - options_.beta1),
         .beta2 = static_cast<float>(options_.beta2),
         .one_minus_beta2 = static_cast<float>(1 - options_.beta2),
         .epsilon = static_cast<float>(options_.epsilon),
         .step_size = static_cast<float>(learning_rate / correction(options_.beta1, num_steps_)),
         .inverse_root_correction2 =
             static_cast<float>(1.0 / std::sqrt(correction(options_.beta2, num_steps_)))});
  };
  for_each_chunk([&](std::int64_t, std::int64_t start, std::int64_t size) {
    for_each_run(start, size, learnt, move);
  });
}

/// The tree goes on above the shards, and the norm is that of the whole sum.
void Adam::sum_over_peers(Outputs learnt) {
  const at::Tensor& gradient = policy_.gradient(0);
  float* const flat = gradient.data_ptr<float>();
  peers_.sum(std::span(flat, gradient.numel()));
  for_each_chunk([&](std::int64_t chunk, std::int64_t start, std::int64_t size) {
    for_each_run(start, size, learnt, [&](std::int64_t first, std::int64_t count) {
      squares_.data_ptr<float>()[chunk] += fused::sum_of_squares(flat + first, count);
    });
  });
}

void Adam::save(LearnerState& state) const {
  for (const ParameterSlot& slot : policy_.slots()) {
    state.tensors.push_back({"optim", "exp_avg." + slot.name, Policy::view(exp_avg_, slot)});
    state.tensors.push_back({"optim", "exp_avg_sq." + slot.name, Policy::view(exp_avg_sq_, slot)});
  }
  state.counters["optimiser_steps"] = num_steps_;
}

void Adam::load(const LearnerState& state) {
  for (const ParameterSlot& slot : policy_.slots()) {
    Policy::view(exp_avg_, slot).copy_(state.at("exp_avg." + slot.name));
    Policy::view(exp_avg_sq_, slot).copy_(state.at("exp_avg_sq." + slot.name));
  }
  num_steps_ = state.counters.at("optimiser_steps");
}

/// How far a moment that started at zero has come.
double Adam::correction(double beta, std::int64_t step) { return 1 - std::pow(beta, step); }

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
  if (!peers_.alone()) {
    throw ConfigError("several processes learn on device = cpu only; use --device cpu");
  }
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
      square.sqrt().div_(std::sqrt(correction(options_.beta2, num_steps_))).add_(options_.epsilon);
  part(policy_.weights())
      .addcdiv_(mean, deviation, -learning_rate / correction(options_.beta1, num_steps_));
}

}  // namespace penstock
