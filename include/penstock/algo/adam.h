#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>

#include "penstock/base/thread_pool.h"
#include "penstock/nn/policy.h"

namespace penstock {

/// Adam (Kingma & Ba, 2015) on a policy's flat weights, with the sum of the shards' gradients and
/// clipping by global norm in front. Works in chunks of fixed size spread over the pool: the bits
/// do not depend on how many threads it has.
class Adam {
 public:
  struct Options {
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-5;
    double max_grad_norm = 0.5;  // 0: no clipping
  };

  Adam(Policy& policy, ThreadPool& pool, const Options& options);

  /// Sums the shard gradients up the tree (into shard 0's), clips, and moves the weights.
  void step(double learning_rate);

  [[nodiscard]] const at::Tensor& exp_avg() const { return exp_avg_; }        // flat
  [[nodiscard]] const at::Tensor& exp_avg_sq() const { return exp_avg_sq_; }  // flat
  [[nodiscard]] std::int64_t num_steps() const { return num_steps_; }
  void set_num_steps(std::int64_t num_steps) { num_steps_ = num_steps; }

 private:
  void step_on_cpu(double learning_rate);
  void step_on_device(double learning_rate);
  [[nodiscard]] double correction(double beta) const;
  void sum_gradients();
  [[nodiscard]] at::Tensor clip_scale() const;
  void move_chunk(std::int64_t start, std::int64_t size, const at::Tensor& scale,
                  double learning_rate) const;
  template <class Work>
  void for_each_chunk(const Work& work) const;

  Policy& policy_;
  ThreadPool& pool_;
  Options options_;
  at::Tensor exp_avg_;
  at::Tensor exp_avg_sq_;
  at::Tensor squares_;  // [num_chunks], sum of squares of each chunk of the gradient
  std::int64_t num_steps_ = 0;
};

}  // namespace penstock
