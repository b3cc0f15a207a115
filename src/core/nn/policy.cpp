#include "penstock/core/nn/policy.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "core/nn/network_actor.h"
#include "penstock/core/base/check.h"
#include "penstock/core/base/errors.h"

namespace penstock {
namespace {

static_assert(kParameterAlignment % fused::kPad == 0);

// Beyond this many weights, the library's blocked products are faster than ours (docs/speed.md).
constexpr std::int64_t kFusedWeights = 600'000;

std::vector<ParameterSlot> lay_out(Network& network, std::int64_t& total) {
  std::vector<ParameterSlot> slots;
  total = 0;
  for (const auto& [name, tensor] : network.parameters()) {
    const bool by_input =
        tensor.dim() == 2 && !tensor.is_contiguous() && tensor.t().is_contiguous();
    slots.push_back(
        {name, tensor.sizes().vec(), total, tensor.numel(), by_input, network.serves(name)});
    total += aligned_size(tensor.numel());
  }
  return slots;
}

}  // namespace

Policy::Policy(const MakeNetwork& make, std::size_t num_shards, at::Device device, Fusion fusion)
    : make_(make) {
  for (std::size_t shard = 0; shard < num_shards; ++shard) { replicas_.push_back(make()); }
  std::int64_t total = 0;
  slots_ = lay_out(*replicas_[0], total);
  const auto options = at::TensorOptions().dtype(at::kFloat).device(device);
  weights_ = at::zeros({total}, options);
  {
    const c10::NoGradGuard no_grad;
    const auto initial = replicas_[0]->parameters();
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      view(weights_, slots_[i]).copy_(initial[i].second);
    }
  }
  for (auto& replica : replicas_) {
    gradients_.push_back(at::zeros({total}, options));
    bind(*replica, gradients_.back());
  }
  fuse(fusion);
}

void Policy::fuse(Fusion fusion) {
  if (fusion == Fusion::never) { return; }
  const auto shape = replicas_[0]->fused_shape([this](const std::string& name) {
    const auto slot = std::ranges::find(slots_, name, &ParameterSlot::name);
    PENSTOCK_CHECK(slot != slots_.end(), ==, true);
    return static_cast<std::size_t>(slot->offset);
  });
  const bool of_tokens = shape.has_value() && shape->tokens > 1;
  if (of_tokens) { acting_ = shape; }  // actors run it; the learner keeps the graph
  const bool can = shape.has_value() && !of_tokens && device().is_cpu();
  if (fusion == Fusion::always && !can) {
    throw ConfigError(shape && !of_tokens
                          ? "learner = fused: only on device = cpu; use learner = auto"
                          : "learner = fused: this network is not a stack of linear layers, or it "
                            "looks names up; use net.kind = mlp "
                            "and another observation, or learner = auto");
  }
  if (!can) { return; }
  const std::int64_t multiplied = weights_.numel() - shape->num_looked_up();
  if (fusion == Fusion::when_fit && multiplied > kFusedWeights) { return; }
  for (const at::Tensor& gradient : gradients_) {
    fused_.push_back({fused::Mlp(*shape, weights_.data_ptr<float>(), gradient.data_ptr<float>())});
  }
}

fused::Mlp& Policy::fused(std::size_t shard, Outputs want) {
  FusedReplica& replica = fused_[shard];
  const fused::Parts stale{
      .actor = want != Outputs::value && replica.actor_packed_at != weights_stamp_,
      .critic = want != Outputs::policy && replica.critic_packed_at != weights_stamp_};
  if (stale.actor) { replica.actor_packed_at = weights_stamp_; }
  if (stale.critic) { replica.critic_packed_at = weights_stamp_; }
  if (stale.actor || stale.critic) { replica.mlp.pack(stale); }
  return replica.mlp;
}

std::shared_ptr<const PolicyShape> Policy::shape(const EnvSpec& spec,
                                                 std::shared_ptr<const ActionHead> head,
                                                 double clip_obs) const {
  auto shape = std::make_shared<PolicyShape>();
  shape->spec = spec;
  shape->head = std::move(head);
  shape->slots = slots_;
  shape->num_floats = weights_.numel();
  shape->clip_obs = clip_obs;
  if (is_fused()) {
    shape->mlp = fused_[0].mlp.shape();
  } else {
    shape->mlp = acting_;
    shape->make_actor = [make = make_,
                         device = device()](const std::shared_ptr<const PolicyModel>& model) {
      return detail::make_network_actor(make(), device, model);
    };
  }
  return shape;
}

std::shared_ptr<const PolicyModel> Policy::publish(const std::shared_ptr<const PolicyShape>& shape,
                                                   const ObsNormaliser& normaliser) const {
  const at::Tensor here = weights_.to(at::kCPU);
  return std::make_shared<PolicyModel>(shape, std::span(here.data_ptr<float>(), here.numel()),
                                       normaliser, version_);
}

void Policy::bind(Network& network, const at::Tensor& gradient) const {
  auto parameters = network.parameters();
  PENSTOCK_CHECK(parameters.size(), ==, slots_.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    at::Tensor& parameter = parameters[i].second;
    parameter.set_data(view(weights_, slots_[i]));
    // Autograd adds into a gradient that is there, in place: backward() fills the flat buffer.
    parameter.mutable_grad() = view(gradient, slots_[i]);
  }
}

at::Tensor Policy::view(const at::Tensor& flat, const ParameterSlot& slot) {
  const at::Tensor part = flat.narrow(0, slot.offset, slot.size);
  return slot.by_input ? part.view({slot.shape[1], slot.shape[0]}).t() : part.view(slot.shape);
}

}  // namespace penstock
