#include "core/nn/network_actor.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "penstock/core/base/check.h"
#include "penstock/core/nn/policy.h"

namespace penstock::detail {
namespace {

/// Lent memory as a tensor [n, width]; nobody writes to it.
template <class T>
at::Tensor block_of(std::span<const T> rows, std::size_t num_rows, at::ScalarType type) {
  const std::int64_t n = num_rows;
  const std::int64_t width = std::ssize(rows) / n;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): tensors know no const
  return at::from_blob(const_cast<T*>(rows.data()), {n, width}, type);
}

void copy_out(const at::Tensor& from, std::span<float> to) {
  const at::Tensor here = from.to(at::kCPU).contiguous();
  std::copy_n(here.data_ptr<float>(), to.size(), to.begin());
}

class NetworkActor final : public Actor {
 public:
  NetworkActor(std::unique_ptr<Network> network, at::Device device,
               const std::shared_ptr<const PolicyModel>& model)
      : Actor(model), network_(std::move(network)), device_(device) {
    bind(*model);
  }

  /// The library chooses its kernels by the number of rows.
  [[nodiscard]] bool rows_are_independent() const override { return false; }

 private:
  /// On the CPU the parameters are the model's own memory, which the base class keeps alive.
  void bind(const PolicyModel& model) final {
    const PolicyShape& shape = model.shape();
    auto parameters = network_->parameters();
    PENSTOCK_CHECK(parameters.size(), ==, shape.slots.size());
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): tensors know no const
    const at::Tensor flat =
        at::from_blob(const_cast<float*>(model.weights()), {shape.num_floats}, at::kFloat)
            .to(device_);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      parameters[i].second.set_data(Policy::view(flat, shape.slots[i]));
    }
  }

  void infer(const Inference& rows) override {
    const Outputs want = rows.value.empty()    ? Outputs::policy
                         : rows.params.empty() ? Outputs::value
                                               : Outputs::both;
    const c10::InferenceMode inference;
    const NetworkOutput out = network_->forward(
        {block_of<float>(rows.obs, rows.num_rows, at::kFloat).to(device_), legal_of(rows)}, want);
    if (want != Outputs::value) { copy_out(out.params, rows.params); }
    if (want != Outputs::policy) { copy_out(out.value, rows.value); }
  }

  [[nodiscard]] at::Tensor legal_of(const Inference& rows) const {
    const ActionSpec& action = model().spec().action;
    if (!rows.legal.empty()) {
      return block_of<bool>(rows.legal, rows.num_rows, at::kBool).to(device_);
    }
    if (!action.masked()) { return {}; }
    return at::ones(
        {static_cast<std::int64_t>(rows.num_rows), static_cast<std::int64_t>(action.num_actions())},
        at::TensorOptions().dtype(at::kBool).device(device_));
  }

  std::unique_ptr<Network> network_;
  at::Device device_;
};

}  // namespace

std::unique_ptr<Actor> make_network_actor(std::unique_ptr<Network> network, at::Device device,
                                          const std::shared_ptr<const PolicyModel>& model) {
  return std::make_unique<NetworkActor>(std::move(network), device, model);
}

}  // namespace penstock::detail
