#include "penstock/core/algo/adam.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "penstock/core/nn/mlp.h"
#include "support/torch_adam.h"

namespace adam_test {

using namespace penstock;

namespace {

const EnvSpec kSpec{Layout(9), Discrete{4}, 0};

Policy make(std::size_t shards, std::vector<std::int64_t> hidden = {16, 16}) {
  return Policy([&] { return make_mlp(kSpec, {.hidden = hidden}, 1); }, shards, at::kCPU);
}

/// Different gradients in every shard; their sum is returned.
at::Tensor fill_gradients(Policy& policy, int step) {
  at::Tensor sum = at::zeros_like(policy.weights());
  for (std::size_t s = 0; s < policy.num_shards(); ++s) {
    const auto ramp = at::linspace(-1, 1, policy.weights().numel());
    policy.gradient(s).copy_(at::sin(ramp * (step + 1) * (static_cast<double>(s) + 2)));
    sum += policy.gradient(s);
  }
  return sum;
}

}  // namespace

TEST_CASE("Adam moves the weights as torch's does") {
  Policy policy = make(3);
  ThreadPool pool({.num_threads = 2});
  Adam adam(policy, pool, alone(), {.epsilon = 1e-5, .max_grad_norm = 0.5});
  at::Tensor reference = policy.weights().clone().set_requires_grad(true);
  TorchAdam theirs({reference}, 3e-3, 1e-5);
  for (int step = 0; step < 20; ++step) {
    reference.mutable_grad() = fill_gradients(policy, step);
    theirs.step(0.5);
    adam.step(3e-3);
  }
  CHECK(at::allclose(policy.weights(), reference, 1e-6, 1e-7));
  CHECK(adam.num_steps() == 20);
}

TEST_CASE("what is not learnt moves on as if its gradient were zero, however long") {
  for (const int idle : {1, 15, 16, 17, 300, 1500}) {
    CAPTURE(idle);
    std::vector<at::Tensor> weights;
    std::vector<at::Tensor> moments;
    for (const bool at_once : {false, true}) {
      Policy policy = make(2);
      ThreadPool pool({.num_threads = 2});
      Adam adam(policy, pool, alone(), {.max_grad_norm = 0});
      const auto learn = [&](int step, Outputs learnt) {
        fill_gradients(policy, step);
        for (std::size_t s = 0; s < 2; ++s) {
          for (const ParameterSlot& slot : policy.slots()) {
            if (slot.serves == Outputs::policy && learnt == Outputs::value) {
              const std::int64_t with_padding = (slot.size + 15) / 16 * 16;
              policy.gradient(s).narrow(0, slot.offset, with_padding).zero_();
            }
          }
        }
        adam.step(1e-3, at_once ? learnt : Outputs::both);
      };
      for (int step = 0; step < 5; ++step) { learn(step, Outputs::both); }
      for (int step = 0; step < idle; ++step) { learn(step, Outputs::value); }
      learn(1, Outputs::both);
      for (int step = 0; step < idle; ++step) { learn(step, Outputs::value); }
      adam.catch_up();
      CHECK(adam.num_steps() == 6 + 2 * idle);
      weights.push_back(policy.weights().clone());
      moments.push_back(at::cat({adam.exp_avg(), adam.exp_avg_sq()}));
    }
    CHECK(at::allclose(weights[0], weights[1], 1e-6, 1e-7));
    CHECK(at::allclose(moments[0], moments[1], 1e-4, 1e-12));
  }
}

TEST_CASE("a network of several chunks has the same bits on any number of threads") {
  std::vector<at::Tensor> results;
  for (const std::size_t threads : {1, 2, 4}) {
    Policy policy = make(4, {512, 512});
    ThreadPool pool({.num_threads = threads});
    Adam adam(policy, pool, alone(), {});
    for (int step = 0; step < 3; ++step) {
      fill_gradients(policy, step);
      adam.step(1e-3);
    }
    results.push_back(policy.weights().clone());
  }
  CHECK(results[0].numel() > 4 * 64 * 1024);
  CHECK(at::equal(results[0], results[1]));
  CHECK(at::equal(results[0], results[2]));
}

}  // namespace adam_test
