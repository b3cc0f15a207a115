#include "core/nn/skip.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <string>

#include "penstock/core/base/errors.h"

namespace penstock::detail {

Skip::Skip(const EnvSpec& spec, const NetConfig& config) : scale(config.skip_scale) {
  if (config.skip.empty()) { return; }
  std::vector<std::string> names;
  for (const Part& part : spec.obs.parts()) { names.push_back(part.name); }
  if (std::ranges::find(names, config.skip) == names.end()) {
    throw ConfigError("net.skip = " + config.skip + ": the observation has no such part" +
                      did_you_mean(config.skip, names));
  }
  const Part& part = spec.obs.part(config.skip);
  const std::size_t actions = spec.action.num_actions();
  if (spec.action.continuous() || part.counts || part.num_features != actions) {
    throw ConfigError("net.skip = " + config.skip + ": the part has " +
                      std::to_string(part.num_features) + " numbers and there are " +
                      std::to_string(actions) + " choices of actions; it must have one for each");
  }
  offset = part.offset;
  size = part.size;
}

at::Tensor Skip::add_to(const at::Tensor& params, const at::Tensor& obs) const {
  return any() ? params + obs.narrow(1, offset, size) * scale : params;
}

void prefer_start_action(at::Tensor& bias, const EnvSpec& spec, const NetConfig& config) {
  if (config.start_action < 0) { return; }
  const bool one_choice = !spec.action.continuous() && spec.action.dims() == 1;
  if (!one_choice || config.start_action >= bias.size(0)) {
    throw ConfigError("net.start_action = " + std::to_string(config.start_action) + ": " +
                      (one_choice ? "the env has " + std::to_string(bias.size(0)) + " actions"
                                  : "the env has no single list of actions"));
  }
  const at::NoGradGuard constant;
  bias[config.start_action] = config.start_bias;
}

}  // namespace penstock::detail
