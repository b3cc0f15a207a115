#pragma once
#include <memory>
#include <span>
#include <vector>

#include "penstock/core/act/actor.h"
#include "penstock/core/store/temporary_folder.h"

namespace penstock::test {

struct PolicyFolder : TemporaryFolder {
  [[nodiscard]] std::string file() const { return *this / "policy.safetensors"; }
};

/// A policy of one linear layer each, whose outputs can be computed by hand: actor W [A, F] and b
/// [A], critic [1, F] and [1]; `clip_obs` 0: rows are used as they are.
inline std::shared_ptr<PolicyShape> linear_shape(const EnvSpec& spec, bool squash = false,
                                                 double clip_obs = 0) {
  auto shape = std::make_shared<PolicyShape>();
  shape->spec = spec;
  shape->head = make_action_head(spec.action, squash);
  shape->clip_obs = clip_obs;
  const auto inputs = static_cast<std::int64_t>(spec.obs.num_features());
  const auto outputs = static_cast<std::int64_t>(
      spec.action.continuous() ? spec.action.dims() : spec.action.num_actions());
  const auto add = [&](const std::string& name, std::vector<std::int64_t> size) {
    std::int64_t count = 1;
    for (const std::int64_t n : size) { count *= n; }
    shape->slots.push_back({name, std::move(size), shape->num_floats, count});
    shape->num_floats += aligned_size(count);
    return static_cast<std::size_t>(shape->slots.back().offset);
  };
  fused::MlpShape mlp;
  mlp.row_size = spec.obs.size();
  const std::size_t actor = add("actor.0.weight", {outputs, inputs});
  mlp.actor = {{static_cast<std::size_t>(inputs), static_cast<std::size_t>(outputs), actor,
                add("actor.0.bias", {outputs})}};
  const std::size_t critic = add("critic.0.weight", {1, inputs});
  mlp.critic = {{static_cast<std::size_t>(inputs), 1, critic, add("critic.0.bias", {1})}};
  if (spec.action.continuous()) { mlp.log_std = add("log_std", {outputs}); }
  shape->mlp = mlp;
  return shape;
}

/// Weights by name; the others are zero.
struct Weights {
  const PolicyShape& shape;
  std::vector<float> flat = std::vector<float>(static_cast<std::size_t>(shape.num_floats));

  void set(const std::string& name, const std::vector<float>& values) {
    for (const ParameterSlot& slot : shape.slots) {
      if (slot.name == name) {
        std::copy(values.begin(), values.end(), flat.begin() + slot.offset);
      }
    }
  }
};

}  // namespace penstock::test
