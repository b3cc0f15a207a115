#include "penstock/rollout/sampler.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "penstock/base/check.h"
#include "penstock/base/errors.h"
#include "penstock/base/stopwatch.h"
#include "rollout/sampler_shard.h"

namespace penstock {

namespace {

// Envs of a block: enough rows to fill the kernels, few enough to stay in the first-level cache.
constexpr std::size_t kDefaultBlock = 64;

/// x * 0 is 0 unless x is NaN or infinite; summing needs no branch per number.
bool all_finite(std::span<const float> values) {
  float sum = 0;
  for (const float x : values) { sum += x * 0.0F; }
  return sum == 0.0F;
}

template <class T>
std::span<T> span_of(const at::Tensor& tensor) {
  return {static_cast<T*>(tensor.data_ptr()), static_cast<std::size_t>(tensor.numel())};
}

[[noreturn]] void report_not_finite(const char* what, std::span<const float> rows,
                                    std::size_t width, EnvRange range, std::int64_t step) {
  std::size_t i = 0;
  while (i < range.size() && all_finite(rows.subspan(i * width, width))) { ++i; }
  throw DataError("env " + std::to_string(range.begin + i) + ", step " + std::to_string(step) +
                  ": the " + what + " is not finite; look for NaN or overflow in the env");
}

}  // namespace

Sampler::Sampler(VecEnv& envs, Policy& policy, const ActionHead& head, const Shards& shards,
                 RolloutBuffer& buffer, ThreadPool& pool, const Options& options)
    : envs_(envs),
      policy_(policy),
      head_(head),
      buffer_(buffer),
      pool_(pool),
      options_(options),
      shards_(shards.count()),
      reward_normaliser_(envs.num_envs(), options.gamma, options.normalise.clip_reward) {
  const EnvSpec& spec = envs.spec();
  if (options.normalise.obs) {
    obs_normaliser_ = ObsNormaliser(spec.obs, options.normalise.clip_obs);
  }
  for (std::size_t s = 0; s < shards.count(); ++s) {
    Shard& shard = shards_[s];
    shard.index = s;
    shard.range = shards.range(s);
    shard.obs_tally.resize(obs_normaliser_.moments().size());
  }
  set_block(kDefaultBlock);
  carry_obs_ = at::zeros_like(buffer.obs[0]);
  if (buffer.legal.defined()) { carry_legal_ = at::zeros_like(buffer.legal[0]); }
}

/// A tally of observations depends on their order, and so on blocks and segments; a policy that is
/// not fused on the number of rows.
void Sampler::set_block(std::size_t size) {
  const EnvSpec& spec = envs_.spec();
  for (Shard& shard : shards_) {
    const std::size_t whole = shard.range.size();
    shard.block_size = can_split() && size > 0 ? std::min(size, whole) : whole;
    shard.params.resize(shard.block_size * head_.num_params());
    shard.env_actions.resize(spec.action.continuous() ? shard.block_size * spec.action.dims() : 0);
    shard.final_obs.resize(shard.block_size * spec.obs.size());
    shard.ended.resize(shard.block_size);
  }
}

Sampler::~Sampler() = default;

void Sampler::begin() {
  begun_ = true;
  pool_.run(shards_.size(), [this](std::size_t s) {
    const EnvRange range = shards_[s].range;
    const ObsRows rows = buffer_.obs_rows(0, range);
    envs_.reset(range, rows);
    absorb(shards_[s], range, -1);
  });
}

void Sampler::restart() {
  PENSTOCK_CHECK(position_, ==, buffer_.num_steps());
  position_ = 0;
  fill_first_row();
}

/// From the raw rows, scaled anew: the normaliser has moved on since they were written.
void Sampler::fill_first_row() {
  buffer_.obs[0].copy_(carry_obs_);
  if (carry_legal_.defined()) { buffer_.legal[0].copy_(carry_legal_); }
  if (options_.normalise.obs) { obs_normaliser_.apply(span_of<float>(buffer_.obs[0])); }
}

void Sampler::advance(std::int64_t num_steps) {
  if (!begun_) { begin(); }
  const std::int64_t end = std::min(position_ + num_steps, buffer_.num_steps());
  const bool interleaved = envs_.asynchronous();
  // With envs elsewhere a thread takes several shards: while one's envs step, it sees to another's.
  const std::size_t lanes =
      interleaved ? std::min(pool_.num_used(), shards_.size()) : shards_.size();
  pool_.run(lanes, [&](std::size_t lane) {
    if (interleaved) {
      interleave(lane, lanes, end);
    } else {
      run_blocks(shards_[lane], end);
    }
  });
  // Blocks go through a segment one after another; the order of episodes must not tell.
  for (Shard& shard : shards_) {
    std::ranges::stable_sort(shard.episodes, {}, &Shard::Episode::step);
  }
  steps_per_env_ += end - position_;
  position_ = end;
}

void Sampler::run_blocks(Shard& shard, std::int64_t end) {
  for (std::size_t first = shard.range.begin; first < shard.range.end; first += shard.block_size) {
    const EnvRange block{first, std::min(first + shard.block_size, shard.range.end)};
    for (std::int64_t t = position_; t < end; ++t) {
      act(shard, block, t);
      const Stopwatch watch;
      envs_.step(block, env_actions(shard, block, t), buffer_.obs_rows(t + 1, block),
                 outcome_rows(shard, block, t));
      shard.time.env += watch.seconds();
      take_in(shard, block, t);
    }
  }
}

void Sampler::interleave(std::size_t lane, std::size_t lanes, std::int64_t end) {
  const auto each = [&](auto&& visit) {
    for (std::size_t s = lane; s < shards_.size(); s += lanes) { visit(shards_[s]); }
  };
  const auto send = [this](Shard& shard, std::int64_t t) {
    act(shard, shard.range, t);
    envs_.start_step(shard.range, env_actions(shard, shard.range, t));
  };
  each([&](Shard& shard) { send(shard, position_); });
  for (std::int64_t t = position_; t < end; ++t) {
    each([&](Shard& shard) {
      const Stopwatch watch;
      envs_.finish_step(shard.range, buffer_.obs_rows(t + 1, shard.range),
                        outcome_rows(shard, shard.range, t));
      shard.time.env += watch.seconds();
      take_in(shard, shard.range, t);
      if (t + 1 < end) { send(shard, t + 1); }
    });
  }
}

/// What a step brought: episodes, checks, scaling, the value of what was cut off.
void Sampler::take_in(Shard& shard, EnvRange block, std::int64_t t) {
  Stopwatch watch;
  note_episodes(shard, block, t);
  absorb(shard, block, t);
  shard.time.copy += watch.lap();
  value_truncated(shard, block, t);
  shard.time.infer += watch.lap();
}

void Sampler::act(Shard& shard, EnvRange block, std::int64_t t) {
  const Stopwatch watch;
  const ObsRows rows = buffer_.obs_rows(t, block);
  const std::span<float> params(shard.params.data(), block.size() * head_.num_params());
  policy_.infer(shard.index, {.num_rows = block.size(),
                              .obs = rows.obs,
                              .legal = rows.legal,
                              .params = params,
                              .value = buffer_.rows<float>(buffer_.value, t, block)});
  std::ranges::fill(buffer_.rows<std::int64_t>(buffer_.version, t, block), policy_.version());
  ActionBlock actions{.params = params,
                      .legal = rows.legal,
                      .log_prob = buffer_.rows<float>(buffer_.log_prob, t, block)};
  if (buffer_.continuous()) {
    actions.points = buffer_.rows<float>(buffer_.actions, t, block);
  } else {
    actions.choices = buffer_.rows<std::int64_t>(buffer_.actions, t, block);
  }
  const auto step = static_cast<std::uint64_t>(steps_per_env_ + t - position_);
  head_.sample(actions, {.seed = options_.seed, .first_env = block.begin, .step = step});
  if (buffer_.continuous()) { head_.to_env(actions.points, shard.env_actions); }
  shard.time.infer += watch.seconds();
}

ActionRows Sampler::env_actions(const Shard& shard, EnvRange block, std::int64_t t) const {
  if (buffer_.continuous()) { return {.choices = {}, .points = shard.env_actions}; }
  return {.choices = buffer_.rows<const std::int64_t>(buffer_.actions, t, block), .points = {}};
}

OutcomeRows Sampler::outcome_rows(Shard& shard, EnvRange block, std::int64_t t) {
  return {.reward = buffer_.rows<float>(buffer_.reward, t, block),
          .terminated = buffer_.rows<bool>(buffer_.terminated, t, block),
          .truncated = buffer_.rows<bool>(buffer_.truncated, t, block),
          .final_obs = shard.final_obs,
          .episode = shard.ended};
}

void Sampler::note_episodes(Shard& shard, EnvRange block, std::int64_t t) {
  const OutcomeRows outcome = outcome_rows(shard, block, t);
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (!outcome.terminated[i] && !outcome.truncated[i]) { continue; }
    if (shard.ended[i].discarded) {
      ++shard.discarded;
    } else {
      shard.ended[i].env = block.begin + i;
      shard.episodes.push_back({steps_per_env_ + t - position_, shard.ended[i]});
    }
  }
}

/// Checks what the envs handed over after step t (-1: the first reset) and scales it in place.
void Sampler::absorb(Shard& shard, EnvRange range, std::int64_t t) {
  const std::int64_t step = steps_per_env_ + t - position_;
  const auto obs = buffer_.obs_rows(t + 1, range).obs;
  if (!all_finite(obs)) {
    report_not_finite("observation", obs, envs_.spec().obs.size(), range, step);
  }
  if (t >= 0) {
    const auto reward = buffer_.rows<float>(buffer_.reward, t, range);
    if (!all_finite(reward)) { report_not_finite("reward", reward, 1, range, step); }
  }
  if (t + 1 == buffer_.num_steps()) {
    std::ranges::copy(obs, buffer_.rows<float>(carry_obs_.unsqueeze(0), 0, range).begin());
    if (carry_legal_.defined()) {
      std::ranges::copy(buffer_.obs_rows(t + 1, range).legal,
                        buffer_.rows<bool>(carry_legal_.unsqueeze(0), 0, range).begin());
    }
  }
  if (options_.normalise.obs) {
    obs_normaliser_.tally(obs, shard.obs_tally);
    obs_normaliser_.apply(obs);
  }
}

/// What the future was worth where an episode was cut off.
void Sampler::value_truncated(Shard& shard, EnvRange block, std::int64_t t) {
  const auto terminated = buffer_.rows<bool>(buffer_.terminated, t, block);
  const auto truncated = buffer_.rows<bool>(buffer_.truncated, t, block);
  const auto final_value = buffer_.rows<float>(buffer_.final_value, t, block);
  const std::size_t features = envs_.spec().obs.size();
  std::ranges::fill(final_value, 0.0F);
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (terminated[i] || !truncated[i]) { continue; }
    const std::span<float> row = std::span(shard.final_obs).subspan(i * features, features);
    if (!all_finite(row)) {
      throw DataError("env " + std::to_string(block.begin + i) +
                      ": the final observation is not finite");
    }
    if (options_.normalise.obs) { obs_normaliser_.apply(row); }
    // One row at a time: truncations are rare, and their number must not change the arithmetic.
    policy_.infer(shard.index, {.num_rows = 1, .obs = row, .value = final_value.subspan(i, 1)});
  }
}

void Sampler::finish() {
  PENSTOCK_CHECK(position_, ==, buffer_.num_steps());
  const std::int64_t last = buffer_.num_steps();
  const at::Tensor ended = buffer_.terminated.logical_or(buffer_.truncated);
  const auto rewards = span_of<float>(buffer_.reward);
  std::vector<Moments> reward_tally(shards_.size());
  pool_.run(shards_.size(), [&](std::size_t s) {
    const EnvRange range = shards_[s].range;
    const ObsRows rows = buffer_.obs_rows(last, range);
    policy_.infer(s, {.num_rows = range.size(),
                      .obs = rows.obs,
                      .legal = rows.legal,
                      .value = buffer_.rows<float>(buffer_.value, last, range)});
    if (options_.normalise.reward) {
      reward_normaliser_.tally(rewards, span_of<const bool>(ended), range, reward_tally[s]);
    }
  });
  tree_reduce(std::span(reward_tally), [](Moments& a, const Moments& b) { a.merge(b); });
  reward_normaliser_.merge(reward_tally[0]);
  pool_.run(shards_.size(), [&](std::size_t s) {
    if (options_.normalise.reward) { reward_normaliser_.apply(rewards, shards_[s].range); }
    compute_gae(buffer_, shards_[s].range, options_.gamma, options_.lambda);
  });
  if (options_.normalise.obs) {
    tree_reduce(std::span(shards_), [](Shard& a, const Shard& b) {
      for (std::size_t f = 0; f < a.obs_tally.size(); ++f) { a.obs_tally[f].merge(b.obs_tally[f]); }
    });
    obs_normaliser_.merge(shards_[0].obs_tally);
    for (Shard& shard : shards_) { std::ranges::fill(shard.obs_tally, Moments{}); }
  }
}

std::vector<EpisodeEnd> Sampler::take_episodes() {
  std::vector<EpisodeEnd> all;
  for (Shard& shard : shards_) {
    for (const Shard::Episode& episode : shard.episodes) { all.push_back(episode.end); }
    shard.episodes.clear();
  }
  return all;
}

std::int64_t Sampler::take_discarded() {
  std::int64_t sum = 0;
  for (Shard& shard : shards_) { sum += std::exchange(shard.discarded, 0); }
  return sum;
}

SampleTime Sampler::take_time() {
  SampleTime sum;
  for (Shard& shard : shards_) {
    sum.env += shard.time.env;
    sum.infer += shard.time.infer;
    sum.copy += shard.time.copy;
    shard.time = {};
  }
  return sum;
}

}  // namespace penstock
