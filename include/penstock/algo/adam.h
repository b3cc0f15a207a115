#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

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

  /// Sums the shard gradients up the tree (into shard 0's), clips, and moves the weights. Gradients
  /// of parameters that have no part in what is `learnt` count as zero and are not looked at; these
  /// parameters coast: their moments fade and carry them on, which is made up for by settle().
  void step(double learning_rate, Want learnt = Want::both);
  /// Call after the last step of an update; the weights are then whole.
  void settle();

  [[nodiscard]] const at::Tensor& exp_avg() const { return exp_avg_; }        // flat
  [[nodiscard]] const at::Tensor& exp_avg_sq() const { return exp_avg_sq_; }  // flat
  [[nodiscard]] std::int64_t num_steps() const { return num_steps_; }
  void set_num_steps(std::int64_t num_steps) { num_steps_ = num_steps; }

 private:
  /// Neighbours in the flat buffers that serve the same outputs.
  struct Run {
    std::int64_t start = 0;
    std::int64_t end = 0;
    Want serves = Want::both;
  };

  void step_on_cpu(double learning_rate, Want learnt);
  template <class Work>
  void for_each_run(std::int64_t start, std::int64_t size, Want learnt, const Work& work) const;
  void coast(const Run& run) const;
  void step_on_device(double learning_rate);
  [[nodiscard]] static double correction(double beta, std::int64_t step);
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
  std::vector<Run> runs_;
  Want coasting_ = Want::both;  // what is not learnt; both: nothing coasts
  std::vector<double> rates_;   // learning rates of the steps that it has missed
};

}  // namespace penstock
