#include "penstock/core/rollout/fragment.h"

#include <ATen/ATen.h>

#include <cstring>

namespace penstock {
namespace {

/// Unwritten floats are NaN and unwritten integers absurd in debug builds: whoever reads them
/// notices.
at::Tensor allocate(at::IntArrayRef shape, at::ScalarType type) {
  at::Tensor tensor = at::zeros(shape, type);
#ifndef NDEBUG
  if (type == at::kFloat) { tensor.fill_(std::numeric_limits<float>::quiet_NaN()); }
  if (type == at::kLong) { tensor.fill_(-0x0BAD0BAD0BAD); }
#endif
  return tensor;
}

}  // namespace

Fragment::Fragment(const EnvSpec& spec, std::int64_t num_steps, std::int64_t num_envs)
    : num_steps_(num_steps), num_envs_(num_envs) {
  const std::int64_t T = num_steps;  // NOLINT(readability-identifier-naming): the legend's letters
  const std::int64_t N = num_envs;   // NOLINT(readability-identifier-naming)
  const std::int64_t features = spec.obs.size();
  const std::int64_t dims = spec.action.dims();
  obs = allocate({T + 1, N, features}, at::kFloat);
  if (spec.action.masked()) {
    legal = allocate({T + 1, N, static_cast<std::int64_t>(spec.action.num_actions())}, at::kBool);
  }
  actions = allocate({T, N, dims}, spec.action.continuous() ? at::kFloat : at::kLong);
  log_prob = allocate({T, N}, at::kFloat);
  value = allocate({T + 1, N}, at::kFloat);
  reward = allocate({T, N}, at::kFloat);
  terminated = allocate({T, N}, at::kBool);
  truncated = allocate({T, N}, at::kBool);
  final_value = allocate({T, N}, at::kFloat);
  version = allocate({T, N}, at::kLong);
}

ObsRows Fragment::obs_rows(std::int64_t t, EnvRange range) const {
  return {rows<float>(obs, t, range),
          legal.defined() ? rows<bool>(legal, t, range) : std::span<bool>()};
}

Observation Fragment::obs_tensors(std::int64_t t, EnvRange range) const {
  const std::int64_t first = range.begin;
  const std::int64_t count = range.size();
  const auto block = [&](const at::Tensor& x) { return x.select(0, t).narrow(0, first, count); };
  return {block(obs), legal.defined() ? block(legal) : at::Tensor()};
}

std::vector<std::pair<std::string, at::Tensor>> Fragment::tensors() const {
  std::vector<std::pair<std::string, at::Tensor>> all = {{"obs", obs},
                                                         {"actions", actions},
                                                         {"log_prob", log_prob},
                                                         {"value", value},
                                                         {"reward", reward},
                                                         {"terminated", terminated},
                                                         {"truncated", truncated},
                                                         {"final_value", final_value},
                                                         {"version", version}};
  if (legal.defined()) { all.emplace_back("legal", legal); }
  return all;
}

}  // namespace penstock
