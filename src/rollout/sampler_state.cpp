#include <ATen/ATen.h>

#include "penstock/base/errors.h"
#include "penstock/rollout/sampler.h"
#include "rollout/sampler_shard.h"

namespace penstock {
namespace {

constexpr std::int64_t kMomentWidth = 3;   // count, mean, m2
constexpr std::size_t kEpisodeBasics = 5;  // shard, total reward, length, success, env
constexpr auto kEpisodeWidth = static_cast<std::int64_t>(kEpisodeBasics + kMaxStats);

at::Tensor to_tensor(std::span<const Moments> moments) {
  at::Tensor out =
      at::empty({static_cast<std::int64_t>(moments.size()), kMomentWidth}, at::kDouble);
  double* x = out.data_ptr<double>();
  for (const Moments& m : moments) {
    *x++ = m.count;
    *x++ = m.mean;
    *x++ = m.m2;
  }
  return out;
}

std::vector<Moments> to_moments(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous();
  const double* x = flat.data_ptr<double>();
  std::vector<Moments> out(static_cast<std::size_t>(flat.numel() / kMomentWidth));
  for (Moments& m : out) {
    m = {x[0], x[1], x[2]};
    x += kMomentWidth;
  }
  return out;
}

void expect(bool holds, const char* what) {
  if (!holds) {
    throw DataError(std::string("checkpoint: ") + what +
                    " does not fit this config; num_envs, shards and env must be the run's own");
  }
}

}  // namespace

Sampler::State Sampler::save() const {
  State state;
  state.position = position_;
  state.steps_per_env = steps_per_env_;
  state.carry_obs = carry_obs_;
  state.carry_legal = carry_legal_;
  if (options_.normalise.obs) {
    state.obs_moments = to_tensor(obs_normaliser_.moments());
    std::vector<at::Tensor> tallies;
    for (const Shard& shard : shards_) { tallies.push_back(to_tensor(shard.obs_tally)); }
    state.obs_tally = at::stack(tallies);
  }
  state.reward_moments = to_tensor(std::span(&reward_normaliser_.moments(), 1))[0];
  state.reward_returns = at::tensor(reward_normaliser_.returns(), at::kDouble);
  std::vector<double> episodes;
  for (const Shard& shard : shards_) {
    for (const auto& [step, end] : shard.episodes) {
      episodes.insert(
          episodes.end(),
          {static_cast<double>(shard.index), end.total_reward, static_cast<double>(end.length),
           static_cast<double>(end.success), static_cast<double>(end.env)});
      episodes.insert(episodes.end(), end.stats.begin(), end.stats.end());
    }
  }
  state.episodes = at::tensor(episodes, at::kDouble).view({-1, kEpisodeWidth});
  return state;
}

void Sampler::load(const State& state) {
  expect(state.carry_obs.sizes() == carry_obs_.sizes(), "the rows to act on");
  expect(state.position >= 0 && state.position <= buffer_.num_steps(), "the rollout's length");
  expect(state.reward_returns.numel() == buffer_.num_envs(), "the running returns");
  expect(state.obs_moments.defined() == options_.normalise.obs, "normalise.obs");
  expect(state.episodes.numel() % kEpisodeWidth == 0, "the finished episodes");
  position_ = state.position;
  steps_per_env_ = state.steps_per_env;
  begun_ = steps_per_env_ > 0;
  carry_obs_.copy_(state.carry_obs);
  if (carry_legal_.defined()) { carry_legal_.copy_(state.carry_legal); }
  if (options_.normalise.obs) {
    obs_normaliser_.set_moments(to_moments(state.obs_moments));
    expect(state.obs_tally.size(0) == static_cast<std::int64_t>(shards_.size()),
           "the shards' tally");
    for (Shard& shard : shards_) {
      shard.obs_tally = to_moments(state.obs_tally[static_cast<std::int64_t>(shard.index)]);
    }
  }
  reward_normaliser_.set_moments(to_moments(state.reward_moments)[0]);
  const double* returns = state.reward_returns.data_ptr<double>();
  std::copy_n(returns, reward_normaliser_.returns().size(), reward_normaliser_.returns().begin());
  const double* x = state.episodes.data_ptr<double>();
  for (std::int64_t i = 0; i < state.episodes.numel() / kEpisodeWidth; ++i, x += kEpisodeWidth) {
    const auto shard = static_cast<std::size_t>(x[0]);
    expect(shard < shards_.size(), "the finished episodes");
    EpisodeEnd end{x[1], static_cast<std::int64_t>(x[2]), static_cast<Success>(x[3])};
    end.env = static_cast<std::size_t>(x[4]);
    std::copy_n(x + kEpisodeBasics, kMaxStats, end.stats.begin());
    shards_[shard].episodes.push_back({-1, end});  // it ended before any step to come
  }
  if (begun_ && position_ == 0) { fill_first_row(); }
}

}  // namespace penstock
