#include "penstock/nn/policy.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "penstock/base/check.h"
#include "penstock/base/errors.h"

namespace penstock {
namespace {

// Every parameter starts on a cache line, whatever the shapes before it.
constexpr std::int64_t kAlignment = 16;
static_assert(kAlignment % fused::kPad == 0);

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
    total += (tensor.numel() + kAlignment - 1) / kAlignment * kAlignment;
  }
  return slots;
}

/// Lent memory as a tensor [n, width]; nobody writes to it.
template <class T>
at::Tensor block_of(std::span<const T> rows, std::size_t num_rows, at::ScalarType type) {
  const auto n = static_cast<std::int64_t>(num_rows);
  const auto width = static_cast<std::int64_t>(rows.size()) / n;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): tensors know no const
  return at::from_blob(const_cast<T*>(rows.data()), {n, width}, type);
}

void copy_out(const at::Tensor& from, std::span<float> to) {
  const at::Tensor here = from.to(at::kCPU).contiguous();
  std::copy_n(here.data_ptr<float>(), to.size(), to.begin());
}

}  // namespace

Policy::Policy(const MakeNetwork& make, std::size_t num_shards, at::Device device, Fusion fusion) {
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
  const bool can = shape.has_value() && device().is_cpu();
  if (fusion == Fusion::always && !can) {
    throw ConfigError(shape ? "learner = fused: only on device = cpu; use learner = auto"
                            : "learner = fused: this network is no stack of linear layers, or it "
                              "looks names up (env.obs = list of dvrptw); use net.kind = mlp "
                              "and another observation, or learner = auto");
  }
  if (!can) { return; }
  const auto multiplied = weights_.numel() - static_cast<std::int64_t>(shape->num_looked_up());
  if (fusion == Fusion::when_fit && multiplied > kFusedWeights) { return; }
  for (const at::Tensor& gradient : gradients_) {
    fused_.push_back({fused::Mlp(*shape, weights_.data_ptr<float>(), gradient.data_ptr<float>())});
  }
}

fused::Mlp& Policy::fused(std::size_t shard, Want want) {
  FusedReplica& replica = fused_[shard];
  const fused::Parts stale{
      .actor = want != Want::value && replica.actor_packed_at != weights_stamp_,
      .critic = want != Want::policy && replica.critic_packed_at != weights_stamp_};
  if (stale.actor) { replica.actor_packed_at = weights_stamp_; }
  if (stale.critic) { replica.critic_packed_at = weights_stamp_; }
  if (stale.actor || stale.critic) { replica.mlp.pack(stale); }
  return replica.mlp;
}

void Policy::infer(std::size_t shard, const Inference& rows) {
  const Want want = rows.value.empty()    ? Want::policy
                    : rows.params.empty() ? Want::value
                                          : Want::both;
  if (is_fused()) {
    fused(shard, want)
        .infer(rows.obs.data(), rows.num_rows, want == Want::value ? nullptr : rows.params.data(),
               want == Want::policy ? nullptr : rows.value.data());
    return;
  }
  const c10::InferenceMode inference;
  const NetworkOutput out = replicas_[shard]->forward(
      {block_of<float>(rows.obs, rows.num_rows, at::kFloat).to(device()),
       rows.legal.empty() ? at::Tensor()
                          : block_of<bool>(rows.legal, rows.num_rows, at::kBool).to(device())},
      want);
  if (want != Want::value) { copy_out(out.params, rows.params); }
  if (want != Want::policy) { copy_out(out.value, rows.value); }
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
