#include <ATen/ATen.h>

#include "core/rollout/sampler_shard.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/rollout/sampler.h"

namespace penstock {
namespace {

constexpr std::int64_t kMomentWidth = 3;   // count, mean, m2
constexpr std::size_t kEpisodeBasics = 5;  // shard, total reward, length, success, env
constexpr std::int64_t kEpisodeWidth = kEpisodeBasics + kMaxStats;

at::Tensor to_tensor(std::span<const Moments> moments) {
  at::Tensor out = at::empty({std::ssize(moments), kMomentWidth}, at::kDouble);
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
  std::vector<Moments> out(flat.numel() / kMomentWidth);
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

/// Envs elsewhere are not asked: they survive failures by themselves, and a run that loses them for
/// good is resumed from its last checkpoint.
void Sampler::set_mark() {
  if (envs_.async() != nullptr) { return; }
  Mark& mark = *mark_;
  mark.begun = begun_;
  mark.envs.clear();
  mark.ends.clear();
  for (std::size_t i = 0; i < envs_.num_envs(); ++i) {
    envs_.save(i, mark.envs);
    mark.ends.push_back(mark.envs.size());
  }
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    const Shard& shard = shards_[s];
    mark.shards[s] = {shard.episodes.size(), shard.discarded, shard.obs_tally};
  }
  if (position_ == 0) {
    mark.carry_obs = carry_obs_.clone();
    if (carry_legal_.defined()) { mark.carry_legal = carry_legal_.clone(); }
  }
}

/// Rows beyond the position are written again, so they stay as they are.
void Sampler::return_to_mark() {
  whole_ = envs_.async() == nullptr;
  if (!whole_) { return; }
  const Mark& mark = *mark_;
  const std::span<const std::byte> all(mark.envs);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < mark.ends.size(); ++i) {
    envs_.load(i, all.subspan(begin, mark.ends[i] - begin));
    begin = mark.ends[i];
  }
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    // Those of this segment came last, sorting had not begun.
    shards_[s].episodes.resize(mark.shards[s].num_episodes);
    shards_[s].discarded = mark.shards[s].discarded;
    shards_[s].obs_tally = mark.shards[s].obs_tally;
  }
  if (position_ == 0) {
    carry_obs_.copy_(mark.carry_obs);
    if (carry_legal_.defined()) { carry_legal_.copy_(mark.carry_legal); }
  }
  begun_ = mark.begun;
}

Sampler::State Sampler::save() {
  State state;
  state.position = position_;
  state.steps_per_env = steps_per_env_;
  state.carry_obs = carry_obs_;
  state.carry_legal = carry_legal_;
  if (options_.normalise_obs) {
    state.obs_moments = to_tensor(obs_normaliser_.moments());
    std::vector<at::Tensor> tallies;
    for (const Shard& shard : shards_) { tallies.push_back(to_tensor(shard.obs_tally)); }
    state.obs_tally = at::stack(tallies);
  }
  std::vector<double> episodes;
  for (const Shard& shard : shards_) {
    for (const auto& [step, end] : shard.episodes) {
      episodes.insert(
          episodes.end(),
          {static_cast<double>(shard.number), end.total_reward, static_cast<double>(end.length),
           static_cast<double>(end.success), static_cast<double>(end.env)});
      episodes.insert(episodes.end(), end.stats.begin(), end.stats.end());
    }
  }
  state.episodes = at::tensor(episodes, at::kDouble).view({-1, kEpisodeWidth});
  return state;
}

void Sampler::load(const State& state) {
  expect(state.carry_obs.sizes() == carry_obs_.sizes(), "the rows to act on");
  expect(state.position >= 0 && state.position <= buffer_->num_steps(), "the rollout's length");
  expect(state.obs_moments.defined() == options_.normalise_obs, "normalise.obs");
  expect(state.episodes.numel() % kEpisodeWidth == 0, "the finished episodes");
  position_ = state.position;
  steps_per_env_ = state.steps_per_env;
  begun_ = steps_per_env_ > 0;
  carry_obs_.copy_(state.carry_obs);
  if (carry_legal_.defined()) { carry_legal_.copy_(state.carry_legal); }
  if (options_.normalise_obs) {
    obs_normaliser_.set_moments(to_moments(state.obs_moments));
    expect(state.obs_tally.size(0) == static_cast<std::int64_t>(total_shards_),
           "the shards' tally");
    for (Shard& shard : shards_) {
      shard.obs_tally = to_moments(state.obs_tally[static_cast<std::int64_t>(shard.number)]);
    }
  }
  const double* x = state.episodes.data_ptr<double>();
  for (std::int64_t i = 0; i < state.episodes.numel() / kEpisodeWidth; ++i, x += kEpisodeWidth) {
    expect(x[0] >= 0 && x[0] < static_cast<double>(total_shards_), "the finished episodes");
    const auto shard = static_cast<std::size_t>(x[0]) - shards_[0].number;
    if (shard >= shards_.size()) { continue; }  // of another process
    EpisodeEnd end{x[1], static_cast<std::int64_t>(x[2]), static_cast<Success>(x[3])};
    end.env = static_cast<std::size_t>(x[4]);
    std::copy_n(x + kEpisodeBasics, kMaxStats, end.stats.begin());
    shards_[shard].episodes.push_back({-1, end});  // it ended before any step to come
  }
  if (begun_ && position_ == 0) { fill_first_row(); }
}

}  // namespace penstock
