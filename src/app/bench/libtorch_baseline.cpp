#include "app/bench/libtorch_baseline.h"

#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adam.h>

#include <algorithm>
#include <memory>

#include "penstock/core/algo/ppo.h"
#include "penstock/core/base/stopwatch.h"

namespace penstock::detail {
namespace {

std::int64_t epochs_of(const RunPlan& plan) {
  const PpoConfig* ppo = ppo_config(plan.algorithm());
  return ppo == nullptr ? 1 : std::max(ppo->policy_epochs, ppo->value_epochs);
}

bool uses_tanh(const RunPlan& plan) {
  return std::ranges::any_of(plan.fields(), [](const Field& field) {
    const auto* const* text = std::get_if<std::string*>(&field.target);
    return field.path == "net.activation" && text != nullptr && **text == "tanh";
  });
}

/// Of an MLP's actor.
std::vector<std::int64_t> hidden_widths(Network& mlp) {
  std::vector<std::int64_t> widths;
  for (const auto& [name, tensor] : mlp.parameters()) {
    if (name.starts_with("actor.") && name.ends_with(".weight")) {
      widths.push_back(tensor.size(0));
    }
  }
  widths.pop_back();
  return widths;
}

class Bare {
 public:
  Bare(const RunPlan& plan, std::int64_t num_threads)
      : num_envs_(plan.config().env.num_envs),
        num_steps_(plan.horizon()),
        minibatch_(plan.algorithm().minibatch(num_envs_ * num_steps_)),
        num_epochs_(epochs_of(plan)),
        num_threads_(num_threads) {
    const EnvSpec spec = plan.env().spec();
    const bool mlp = plan.config().net.kind == "mlp";
    const std::int64_t features = mlp ? spec.obs.num_features() : spec.obs.size();
    const std::int64_t actions = spec.action.num_actions();
    std::unique_ptr<Network> network = plan.network().make(spec, 1);
    if (mlp) {
      const std::vector<std::int64_t> hidden = hidden_widths(*network);
      actor_ = stack(features, hidden, actions, uses_tanh(plan));
      critic_ = stack(features, hidden, 1, uses_tanh(plan));
      for (auto& part : {actor_, critic_}) {
        for (auto& p : part->parameters()) { parameters_.push_back(p); }
      }
    } else {  // the network itself is plain libtorch already
      network_ = std::move(network);
      for (const auto& [name, p] : network_->parameters()) { parameters_.push_back(p); }
    }
    adam_ = std::make_unique<torch::optim::Adam>(parameters_, torch::optim::AdamOptions(1e-3));
    const std::int64_t samples = num_envs_ * num_steps_;
    row_ = torch::randn({num_envs_, features});
    obs_ = torch::randn({samples, features});
    advantage_ = torch::randn({samples});
    target_ = torch::randn({samples});
    log_prob_ = torch::full({samples}, -0.69);
    actions_ = torch::randint(0, actions, {samples}, torch::kLong);
  }

  /// Samples per second over about `seconds`.
  double round(double seconds) {
    at::set_num_threads(num_threads_);
    const Stopwatch watch;
    std::int64_t samples = 0;
    while (watch.seconds() < seconds) {
      sample();
      learn();
      samples += num_envs_ * num_steps_;
    }
    const double rate = samples / watch.seconds();
    at::set_num_threads(1);
    return rate;
  }

 private:
  static torch::nn::Sequential stack(std::int64_t inputs, const std::vector<std::int64_t>& hidden,
                                     std::int64_t outputs, bool tanh) {
    torch::nn::Sequential net;
    for (const std::int64_t width : hidden) {
      net->push_back(torch::nn::Linear(inputs, width));
      if (tanh) {
        net->push_back(torch::nn::Tanh());
      } else {
        net->push_back(torch::nn::ReLU());
      }
      inputs = width;
    }
    net->push_back(torch::nn::Linear(inputs, outputs));
    return net;
  }

  [[nodiscard]] NetworkOutput forward(const at::Tensor& x) {
    if (network_) { return network_->forward({x, {}}, Outputs::both); }
    return {actor_->forward(x), critic_->forward(x).squeeze(1)};
  }

  void sample() {
    const c10::InferenceMode inference;
    for (std::int64_t t = 0; t < num_steps_; ++t) {
      const NetworkOutput out = forward(row_);
      const at::Tensor log_p = torch::log_softmax(out.params, 1);
      const at::Tensor action = (log_p - torch::empty_like(log_p).exponential_().log()).argmax(1);
      const at::Tensor chosen = log_p.gather(1, action.unsqueeze(1));
    }
  }

  void learn() {
    const std::int64_t samples = num_envs_ * num_steps_;
    for (std::int64_t e = 0; e < num_epochs_; ++e) {
      const at::Tensor order = torch::randperm(samples);
      for (std::int64_t s = 0; s < samples; s += minibatch_) {
        learn_minibatch(order.slice(0, s, std::min(s + minibatch_, samples)));
      }
    }
  }

  void learn_minibatch(const at::Tensor& index) {
    const at::Tensor x = obs_.index_select(0, index);
    const NetworkOutput out = forward(x);
    const at::Tensor log_p = torch::log_softmax(out.params, 1);
    const at::Tensor log_prob =
        log_p.gather(1, actions_.index_select(0, index).unsqueeze(1)).squeeze(1);
    const at::Tensor ratio = (log_prob - log_prob_.index_select(0, index)).exp();
    const at::Tensor advantage = advantage_.index_select(0, index);
    const at::Tensor loss =
        torch::max(-advantage * ratio, -advantage * ratio.clamp(0.8, 1.2)).mean() +
        0.25 * (out.value - target_.index_select(0, index)).pow(2).mean();
    adam_->zero_grad();
    loss.backward();
    torch::nn::utils::clip_grad_norm_(parameters_, 0.5);
    adam_->step();
  }

  std::int64_t num_envs_;
  std::int64_t num_steps_;
  std::int64_t minibatch_;
  std::int64_t num_epochs_;
  std::int64_t num_threads_;
  torch::nn::Sequential actor_{nullptr};
  torch::nn::Sequential critic_{nullptr};
  std::unique_ptr<Network> network_;  // instead of the two
  std::vector<at::Tensor> parameters_;
  std::unique_ptr<torch::optim::Adam> adam_;
  at::Tensor row_;
  at::Tensor obs_;
  at::Tensor advantage_;
  at::Tensor target_;
  at::Tensor log_prob_;
  at::Tensor actions_;
};

}  // namespace

std::function<double(double)> make_bare(const RunPlan& plan, std::int64_t num_threads) {
  auto bare = std::make_shared<Bare>(plan, num_threads);
  return [bare](double seconds) { return bare->round(seconds); };
}

}  // namespace penstock::detail
