#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "penstock/core/algo/learner.h"

namespace penstock {

/// Adam (Kingma & Ba, 2015) on a policy's flat weights, with the sum of the shards' gradients and
/// clipping by global norm in front. Works in chunks of fixed size spread over the pool: the bits
/// do not depend on how many threads it has.
///
///     adam.step(3e-4);   // policy.gradient(s) hold the shards' gradients
///     adam.catch_up();   // before anybody reads the weights
///
/// Not thread-safe: one caller, which must not be inside a task of the pool.
class Adam {
 public:
  /// The decay rates are in [0, 1); the others are 0 or more.
  struct Options {
    double beta1 = 0.9;          // decay of the mean of gradients, per step
    double beta2 = 0.999;        // decay of the mean of their squares, per step
    double epsilon = 1e-5;       // added to the root of the second moment, after its correction
    double max_grad_norm = 0.5;  // 0: no clipping
  };

  /// All three outlive it.
  /// Both moments begin at zero, on the policy's device.
  Adam(Policy& policy, ThreadPool& pool, Peers& peers, const Options& options);

  /// Sums the shard gradients up the tree (into shard 0's), clips, and moves the weights. Gradients
  /// of parameters that have no part in what is `learnt` count as zero and are not looked at; these
  /// parameters are idle: their moments decay and move them on, which catch_up() makes up for.
  /// False, and nothing has moved, where the norm of the sum is not finite.
  /// On a GPU nothing is idle: every gradient is read and must be zero where nothing is learnt. The
  /// norm is not looked at, as that would mean to wait: it is always true.
  /// Throws ConfigError when several processes learn on a GPU.
  bool step(double learning_rate, Outputs learnt = Outputs::both);
  /// Call after the last step of an update; the weights are then whole.
  void catch_up();

  /// The moments, laid out as policy.weights(). Those of idle parameters lag until catch_up().
  [[nodiscard]] const at::Tensor& exp_avg() const { return exp_avg_; }        // flat
  [[nodiscard]] const at::Tensor& exp_avg_sq() const { return exp_avg_sq_; }  // flat
  /// Since the run began; the bias corrections depend on it.
  [[nodiscard]] std::int64_t num_steps() const { return num_steps_; }

  /// Both moments of every parameter by its name, and the number of steps.
  /// Call it after catch_up(): idle steps are not saved. The tensors are views of the moments.
  void save(LearnerState& state) const;
  /// Copies the moments. Throws DataError when one of them is missing.
  void load(const LearnerState& state);

 private:
  /// Neighbours in the flat buffers that serve the same outputs.
  struct Run {
    std::int64_t start = 0;
    std::int64_t end = 0;
    Outputs serves = Outputs::both;
  };

  [[nodiscard]] double sum_on_cpu(Outputs learnt);
  void move_on_cpu(double learning_rate, Outputs learnt, double norm);
  template <class Work>
  void for_each_run(std::int64_t start, std::int64_t size, Outputs learnt, const Work& work) const;
  void sum_over_peers(Outputs learnt);
  void apply_idle_steps(const Run& run) const;
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
  Peers& peers_;
  Options options_;
  at::Tensor exp_avg_;
  at::Tensor exp_avg_sq_;
  at::Tensor squares_;  // [num_chunks], sum of squares of each chunk of the gradient
  std::int64_t num_steps_ = 0;
  std::vector<Run> runs_;
  Outputs idle_ = Outputs::both;  // what is not learnt; both: nothing is idle
  std::vector<double> rates_;     // learning rates of the steps that it has missed
};

}  // namespace penstock
