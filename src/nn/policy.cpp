#include "penstock/nn/policy.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "penstock/base/check.h"

namespace penstock {
namespace {

// Every parameter starts on a cache line, whatever the shapes before it.
constexpr std::int64_t kAlignment = 16;

std::vector<ParameterSlot> lay_out(Network& network, std::int64_t& total) {
  std::vector<ParameterSlot> slots;
  total = 0;
  for (const auto& [name, tensor] : network.parameters()) {
    slots.push_back({name, tensor.sizes().vec(), total, tensor.numel()});
    total += (tensor.numel() + kAlignment - 1) / kAlignment * kAlignment;
  }
  return slots;
}

}  // namespace

Policy::Policy(const MakeNetwork& make, std::size_t num_shards, at::Device device) {
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
  return flat.narrow(0, slot.offset, slot.size).view(slot.shape);
}

}  // namespace penstock
