// The fused learner against autograd: same network, same samples, same gradient of every parameter.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>

#include "core/algo/gradients.h"
#include "penstock/core/algo/ppo.h"
#include "penstock/core/fused/isa.h"
#include "penstock/core/nn/action_terms.h"
#include "penstock/core/nn/mlp.h"

namespace fused_gradient_test {

using namespace penstock;

namespace {

struct Case {
  EnvSpec spec;
  NetConfig net;
  bool squash = false;
  PpoLossConfig loss;
  std::int64_t rows = 1;
  bool policy = true;
  bool value = true;
  std::string isa;
  std::string text;  // to print
};

ActionSpec any_action(std::string& text, bool& squash) {
  const int kind = *rc::gen::inRange(0, 4);
  const bool masked = *rc::gen::arbitrary<bool>();
  if (kind == 0) {
    const auto n = *rc::gen::element<std::int64_t>(2, 3, 4, 5, 16, 17, 145);
    text += fmt::format(" discrete {}{}", n, masked ? " masked" : "");
    return Discrete{n, masked};
  }
  if (kind == 1) {
    const auto sizes =
        *rc::gen::container<std::vector<std::int64_t>>(3, rc::gen::inRange<std::int64_t>(2, 8));
    text += masked ? " multi masked" : " multi";
    return MultiDiscrete{sizes, masked};
  }
  squash = kind == 3;
  const auto dims = static_cast<std::size_t>(*rc::gen::inRange(1, 7));
  text += fmt::format(" box {}{}", dims, squash ? " squashed" : "");
  return Box{std::vector<float>(dims, -2.0F), std::vector<float>(dims, 3.0F)};
}

Case any_case() {
  Case c;
  bool squash = false;
  const auto features = *rc::gen::element<std::int64_t>(1, 3, 4, 16, 17, 40, 130);
  c.text = fmt::format("features {}", features);
  Layout layout(features);
  if (*rc::gen::arbitrary<bool>()) {
    const auto places = *rc::gen::element<std::int64_t>(1, 5, 16, 300);
    const auto most = *rc::gen::element<std::size_t>(1, 7, 40);
    if (*rc::gen::arbitrary<bool>()) { layout = Layout(); }
    layout.append_counts("counts", {places}, most);
    if (*rc::gen::arbitrary<bool>()) { layout.append("tail", {3}); }
    c.text += fmt::format(", {} parts, {} counts of {}", layout.parts().size(), most, places);
  }
  c.spec = {layout, any_action(c.text, squash), 0};
  c.squash = squash;
  c.net.log_std_init = -0.3;
  c.net.activation = *rc::gen::element<std::string>("tanh", "relu");
  c.net.shared_trunk = *rc::gen::arbitrary<bool>();
  // A head alone cannot count.
  const auto depth = *rc::gen::inRange<std::size_t>(layout.any_counts() ? 1 : 0, 4);
  c.net.hidden = *rc::gen::container<std::vector<std::int64_t>>(
      depth, rc::gen::element<std::int64_t>(1, 5, 16, 31, 64, 65, 100));
  c.loss.clip = *rc::gen::element(0.05, 0.2);
  c.loss.value_clip = *rc::gen::element(0.0, 0.2);
  c.loss.entropy_weight = *rc::gen::element(0.0, 0.01, 1.0);
  c.rows = *rc::gen::element<std::int64_t>(1, 2, 7, 63, 64, 65, 200);
  const int parts = *rc::gen::inRange(0, 4);
  c.policy = parts != 1;
  c.value = parts != 2;
  c.isa = *rc::gen::elementOf(fused::supported_isas());
  c.text += fmt::format(" hidden [{}] {}{} rows {} {}{}{}", fmt::join(c.net.hidden, " "),
                        c.net.activation, c.net.shared_trunk ? " shared" : "", c.rows, c.isa,
                        c.policy ? " policy" : "", c.value ? " value" : "");
  return c;
}

/// Far enough from the initial weights for every term to matter.
void move_weights(Policy& policy) {
  for (const ParameterSlot& slot : policy.slots()) {
    const auto fan_in = static_cast<double>(slot.shape.back());
    Policy::view(policy.weights(), slot)
        .add_(at::randn(slot.shape), 0.5 / std::sqrt(std::max(1.0, fan_in)));
  }
  policy.weights_changed();
}

/// A fragment of one step, and what it is learnt for.
struct Rollout {
  Fragment fragment;
  Targets targets;
};

Rollout any_rollout(const Case& c, Policy& policy, const ActionHead& head) {
  Fragment buffer(c.spec, 1, c.rows);
  buffer.obs.normal_();
  for (const Part& part : c.spec.obs.parts()) {
    if (!part.counts) { continue; }
    const at::Tensor floats = buffer.obs.narrow(2, static_cast<std::int64_t>(part.offset),
                                                static_cast<std::int64_t>(part.size));
    floats.copy_(at::randint(-1, static_cast<std::int64_t>(part.num_features), floats.sizes()));
  }
  const ActionSpec& action = c.spec.action;
  if (action.continuous()) {
    buffer.actions.normal_();
  } else if (buffer.legal.defined()) {
    buffer.legal.copy_(at::rand(buffer.legal.sizes()) > 0.4);
  }
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < action.choices().size(); ++d) {
    const std::int64_t n = action.choices()[d];
    const at::Tensor chosen = at::randint(0, n, {c.rows}, at::kLong);
    buffer.actions[0].select(1, static_cast<std::int64_t>(d)).copy_(chosen);
    if (buffer.legal.defined()) {  // what was chosen was legal
      buffer.legal[0].narrow(1, offset, n).scatter_(1, chosen.unsqueeze(1), true);
    }
    offset += n;
  }
  const Observation obs{buffer.obs[0], buffer.legal.defined() ? buffer.legal[0] : at::Tensor()};
  const NetworkOutput out = policy.replica(0).forward(obs, Outputs::both);
  const at::Tensor log_prob = action_terms(head, out.params, buffer.actions[0], obs.legal).log_prob;
  buffer.log_prob[0].copy_(log_prob.detach() + 0.3 * at::randn({c.rows}));
  buffer.value[0].copy_(out.value.detach() + 0.3 * at::randn({c.rows}));
  return {buffer, {at::randn_like(buffer.reward), at::randn_like(buffer.reward)}};
}

/// Autograd in double: what both learners approximate.
std::vector<at::Tensor> exact_gradients(const Case& c, Policy& policy, const ActionHead& head,
                                        const Fragment& rollout, const Targets& targets,
                                        const penstock::detail::MinibatchPart& part) {
  const auto network = make_mlp(c.spec, c.net, 1);
  auto parameters = network->parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    at::Tensor& parameter = parameters[i].second;
    parameter.set_data(Policy::view(policy.weights(), policy.slots()[i]).to(at::kDouble));
  }
  const auto wide = [](const at::Tensor& x) { return x[0].to(at::kDouble); };
  const at::Tensor legal = rollout.legal.defined() ? rollout.legal[0] : at::Tensor();
  const at::Tensor actions = rollout.continuous() ? wide(rollout.actions) : rollout.actions[0];
  const NetworkOutput out = network->forward({wide(rollout.obs), legal}, Outputs::both);
  PpoTerms terms;
  if (c.policy) {
    const ActionTerms action = action_terms(head, out.params, actions, legal);
    terms.log_prob = action.log_prob;
    terms.entropy = action.entropy;
    terms.old_log_prob = wide(rollout.log_prob);
    terms.advantage = (wide(targets.advantage) - part.advantage_mean) * part.advantage_scale;
  }
  if (c.value) {
    terms.value = out.value;
    terms.target = wide(targets.value);
    if (c.loss.value_clip > 0) { terms.old_value = wide(rollout.value); }
  }
  const double share = static_cast<double>(c.rows) / part.count;
  (ppo_loss(terms, c.loss).total * share).backward();
  std::vector<at::Tensor> gradients;
  for (const auto& [name, parameter] : parameters) {
    gradients.push_back(parameter.grad().defined() ? parameter.grad() : at::zeros_like(parameter));
  }
  return gradients;
}

double largest(const at::Tensor& x) { return x.abs().max().item<double>(); }

}  // namespace

TEST_CASE("the fused gradient is autograd's, for every parameter") {
  at::set_num_threads(1);
  const bool holds = rc::check("fused gradient", [] {
    const Case c = any_case();
    at::manual_seed(*rc::gen::arbitrary<std::uint32_t>());
    RC_LOG(c.text);
    fused::use_isa(c.isa);
    const auto head = make_action_head(c.spec.action, c.squash);
    Policy policy([&] { return make_mlp(c.spec, c.net, 1); }, 1, at::kCPU, Fusion::always);
    move_weights(policy);
    const auto [rollout, targets] = any_rollout(c, policy, *head);
    std::vector<std::int64_t> samples(static_cast<std::size_t>(c.rows));
    std::iota(samples.begin(), samples.end(), 0);
    std::reverse(samples.begin(), samples.end());
    const penstock::detail::MinibatchPart part{.shard = 0,
                                               .samples = samples,
                                               .count = 1.5 * static_cast<double>(c.rows),
                                               .advantage_mean = 0.1,
                                               .advantage_scale = 1.3,
                                               .policy = c.policy,
                                               .value = c.value};
    const auto gradient = [&, &rollout = rollout, &targets = targets](
                              const std::unique_ptr<penstock::detail::Gradients>& gradients) {
      policy.gradient(0).fill_(123);  // must be replaced
      gradients->begin(rollout, targets, c.loss);
      gradients->compute(part);
      return std::pair(policy.gradient(0).clone(), gradients->sums(0));
    };
    const auto [eager, eager_sums] =
        gradient(penstock::detail::make_eager_gradients(policy, *head));
    const auto [fused, fused_sums] =
        gradient(penstock::detail::make_fused_gradients(policy, *head));
    const auto judged =
        [&, &rollout = rollout](const std::unique_ptr<penstock::detail::Gradients>& gradients) {
          Judgement found{at::zeros_like(rollout.log_prob), at::zeros_like(rollout.value)};
          gradients->judge(rollout, 0, {0, static_cast<std::size_t>(c.rows)}, found);
          return found;
        };
    const Judgement by_autograd = judged(penstock::detail::make_eager_gradients(policy, *head));
    const Judgement by_kernels = judged(penstock::detail::make_fused_gradients(policy, *head));
    const auto agree = [](const at::Tensor& a, const at::Tensor& b) {
      return largest(a - b) <= 1e-5 * std::max(1.0, largest(a));
    };
    RC_ASSERT(agree(by_autograd.log_prob, by_kernels.log_prob));
    RC_ASSERT(agree(by_autograd.value, by_kernels.value));
    const std::vector<at::Tensor> exact = exact_gradients(c, policy, *head, rollout, targets, part);
    double size = 0;
    for (const at::Tensor& x : exact) { size = std::max(size, largest(x)); }
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const ParameterSlot& slot = policy.slots()[i];
      if (slot.serves == Outputs::policy && !c.policy) { continue; }  // nobody will look
      if (slot.serves == Outputs::value && !c.value) { continue; }
      const double apart = largest(Policy::view(fused, slot) - exact[i]);
      // Samples that cancel leave few digits to anyone who counts in floats: neither autograd's own
      // error nor the rounding of the largest gradient can be asked to vanish.
      const double floats = largest(Policy::view(eager, slot) - exact[i]);
      const double allowed = std::max({1e-5 * largest(exact[i]), 8 * floats, 1e-6 * size});
      if (apart > allowed) {
        RC_FAIL(fmt::format("{}: {} apart, autograd {}, of {}", slot.name, apart, floats,
                            largest(exact[i])));
      }
    }
    RC_ASSERT(std::abs(fused_sums.total - eager_sums.total) <=
              1e-5 * std::max(1.0, std::abs(eager_sums.total)));
    RC_ASSERT(std::abs(fused_sums.kl - eager_sums.kl) <= 1e-5 * std::max(1.0, eager_sums.kl));
    // A ratio at the very edge may fall on either side of it.
    RC_ASSERT(std::abs(fused_sums.clipped - eager_sums.clipped) <= 1.1 / part.count);
  });
  fused::use_isa("auto");
  CHECK(holds);
}

TEST_CASE("a shard without samples has no gradient, whatever was there") {
  const Case c{.spec = {Layout(3), Discrete{2}, 0}, .net = {.hidden = {16}}};
  const auto head = make_action_head(c.spec.action, c.squash);
  Policy policy([&] { return make_mlp(c.spec, c.net, 1); }, 1, at::kCPU, Fusion::always);
  const auto [rollout, targets] = any_rollout(c, policy, *head);
  const auto gradients = penstock::detail::make_fused_gradients(policy, *head);
  policy.gradient(0).fill_(123);
  gradients->begin(rollout, targets, c.loss);
  gradients->compute({.shard = 0});
  for (const ParameterSlot& slot : policy.slots()) {
    CHECK(largest(Policy::view(policy.gradient(0), slot)) == 0);
  }
}

}  // namespace fused_gradient_test
