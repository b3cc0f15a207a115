#include "penstock/rollout/buffer.h"

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

RolloutBuffer::RolloutBuffer(const EnvSpec& spec, std::int64_t num_steps, std::int64_t num_envs)
    : num_steps_(num_steps), num_envs_(num_envs) {
  const std::int64_t T = num_steps;  // NOLINT(readability-identifier-naming): the legend's letters
  const std::int64_t N = num_envs;   // NOLINT(readability-identifier-naming)
  const auto features = static_cast<std::int64_t>(spec.obs.size());
  const auto dims = static_cast<std::int64_t>(spec.action.dims());
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
  advantage = allocate({T, N}, at::kFloat);
  target = allocate({T, N}, at::kFloat);
}

ObsRows RolloutBuffer::obs_rows(std::int64_t t, EnvRange range) const {
  return {rows<float>(obs, t, range),
          legal.defined() ? rows<bool>(legal, t, range) : std::span<bool>()};
}

Observation RolloutBuffer::obs_tensors(std::int64_t t, EnvRange range) const {
  const auto first = static_cast<std::int64_t>(range.begin);
  const auto count = static_cast<std::int64_t>(range.size());
  const auto block = [&](const at::Tensor& x) { return x.select(0, t).narrow(0, first, count); };
  return {block(obs), legal.defined() ? block(legal) : at::Tensor()};
}

std::vector<std::pair<std::string, at::Tensor>> RolloutBuffer::tensors() const {
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

void compute_gae(RolloutBuffer& buffer, EnvRange range, double gamma, double lambda) {
  const auto discount = static_cast<float>(gamma);
  const auto trace = static_cast<float>(gamma * lambda);
  const std::size_t size = range.size();
  std::vector<float> running(size, 0.0F);
  for (std::int64_t t = buffer.num_steps() - 1; t >= 0; --t) {
    const auto value = buffer.rows<const float>(buffer.value, t, range);
    const auto next_value = buffer.rows<const float>(buffer.value, t + 1, range);
    const auto final_value = buffer.rows<const float>(buffer.final_value, t, range);
    const auto reward = buffer.rows<const float>(buffer.reward, t, range);
    const auto terminated = buffer.rows<const bool>(buffer.terminated, t, range);
    const auto truncated = buffer.rows<const bool>(buffer.truncated, t, range);
    const auto advantage = buffer.rows<float>(buffer.advantage, t, range);
    const auto target = buffer.rows<float>(buffer.target, t, range);
    for (std::size_t i = 0; i < size; ++i) {
      const float future = terminated[i] ? 0.0F : truncated[i] ? final_value[i] : next_value[i];
      const float carried = terminated[i] || truncated[i] ? 0.0F : running[i];
      const float delta = reward[i] + discount * future - value[i];
      running[i] = delta + trace * carried;
      advantage[i] = running[i];
      target[i] = running[i] + value[i];
    }
  }
}

}  // namespace penstock
