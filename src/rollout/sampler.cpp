#include "penstock/rollout/sampler.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>

#include "penstock/base/check.h"
#include "penstock/base/errors.h"
#include "penstock/base/stopwatch.h"
#include "rollout/sampler_shard.h"

namespace penstock {

namespace {

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
  const std::size_t features = spec.obs.size();
  if (options.normalise.obs) {
    obs_normaliser_ = ObsNormaliser(features, options.normalise.clip_obs);
  }
  for (std::size_t s = 0; s < shards.count(); ++s) {
    Shard& shard = shards_[s];
    shard.index = s;
    shard.range = shards.range(s);
    const std::size_t size = shard.range.size();
    shard.env_actions.resize(spec.action.continuous() ? size * spec.action.dims() : 0);
    shard.final_obs.resize(size * features);
    shard.ended.resize(size);
    shard.obs_tally.resize(obs_normaliser_.moments().size());
  }
  carry_obs_ = at::zeros_like(buffer.obs[0]);
  if (buffer.legal.defined()) { carry_legal_ = at::zeros_like(buffer.legal[0]); }
}

Sampler::~Sampler() = default;

void Sampler::begin() {
  begun_ = true;
  pool_.run(shards_.size(), [this](std::size_t s) {
    const EnvRange range = shards_[s].range;
    const ObsRows rows = buffer_.obs_rows(0, range);
    envs_.reset(range, rows);
    absorb(shards_[s], -1);
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
  pool_.run(shards_.size(), [this, end](std::size_t s) {
    const c10::InferenceMode inference;
    for (std::int64_t t = position_; t < end; ++t) { sample_step(shards_[s], t); }
  });
  steps_per_env_ += end - position_;
  position_ = end;
}

void Sampler::sample_step(Shard& shard, std::int64_t t) {
  Stopwatch watch;
  act(shard, t);
  shard.time.infer += watch.lap();
  step_envs(shard, t);
  shard.time.env += watch.lap();
  absorb(shard, t);
  shard.time.copy += watch.lap();
  value_truncated(shard, t);
  shard.time.infer += watch.lap();
}

void Sampler::act(Shard& shard, std::int64_t t) {
  const Observation batch = buffer_.obs_tensors(t, shard.range);
  const at::Device device = policy_.device();
  const NetworkOutput out =
      policy_.replica(shard.index)
          .forward(
              {batch.obs.to(device), batch.legal.defined() ? batch.legal.to(device) : batch.legal},
              Want::both);
  const at::Tensor params = out.params.to(at::kCPU).contiguous();
  const at::Tensor value = out.value.to(at::kCPU).contiguous();
  std::ranges::copy(span_of<float>(value),
                    buffer_.rows<float>(buffer_.value, t, shard.range).begin());
  std::ranges::fill(buffer_.rows<std::int64_t>(buffer_.version, t, shard.range), policy_.version());
  ActionBlock block{.params = span_of<const float>(params),
                    .legal = buffer_.obs_rows(t, shard.range).legal,
                    .log_prob = buffer_.rows<float>(buffer_.log_prob, t, shard.range)};
  if (buffer_.continuous()) {
    block.points = buffer_.rows<float>(buffer_.actions, t, shard.range);
  } else {
    block.choices = buffer_.rows<std::int64_t>(buffer_.actions, t, shard.range);
  }
  const auto step = static_cast<std::uint64_t>(steps_per_env_ + t - position_);
  head_.sample(block, {.seed = options_.seed, .first_env = shard.range.begin, .step = step});
  if (buffer_.continuous()) { head_.to_env(block.points, shard.env_actions); }
}

void Sampler::step_envs(Shard& shard, std::int64_t t) {
  const EnvRange range = shard.range;
  ActionRows actions{.choices = {}, .points = shard.env_actions};
  if (!buffer_.continuous()) {
    actions.choices = buffer_.rows<const std::int64_t>(buffer_.actions, t, range);
  }
  const auto terminated = buffer_.rows<bool>(buffer_.terminated, t, range);
  const auto truncated = buffer_.rows<bool>(buffer_.truncated, t, range);
  envs_.step(range, actions, buffer_.obs_rows(t + 1, range),
             {.reward = buffer_.rows<float>(buffer_.reward, t, range),
              .terminated = terminated,
              .truncated = truncated,
              .final_obs = shard.final_obs,
              .episode = shard.ended});
  for (std::size_t i = 0; i < range.size(); ++i) {
    if (terminated[i] || truncated[i]) { shard.episodes.push_back(shard.ended[i]); }
  }
}

/// Checks what the envs handed over after step t (-1: the first reset) and scales it in place.
void Sampler::absorb(Shard& shard, std::int64_t t) {
  const EnvRange range = shard.range;
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
void Sampler::value_truncated(Shard& shard, std::int64_t t) {
  const auto terminated = buffer_.rows<bool>(buffer_.terminated, t, shard.range);
  const auto truncated = buffer_.rows<bool>(buffer_.truncated, t, shard.range);
  const auto final_value = buffer_.rows<float>(buffer_.final_value, t, shard.range);
  const std::size_t features = envs_.spec().obs.size();
  std::ranges::fill(final_value, 0.0F);
  for (std::size_t i = 0; i < shard.range.size(); ++i) {
    if (terminated[i] || !truncated[i]) { continue; }
    const std::span<float> row = std::span(shard.final_obs).subspan(i * features, features);
    if (!all_finite(row)) {
      throw DataError("env " + std::to_string(shard.range.begin + i) +
                      ": the final observation is not finite");
    }
    if (options_.normalise.obs) { obs_normaliser_.apply(row); }
    // One row at a time: truncations are rare, and their number must not change the arithmetic.
    const at::Tensor obs = at::from_blob(row.data(), {1, static_cast<std::int64_t>(features)});
    const NetworkOutput out =
        policy_.replica(shard.index).forward({obs.to(policy_.device()), at::Tensor()}, Want::value);
    final_value[i] = out.value.item<float>();
  }
}

void Sampler::finish() {
  PENSTOCK_CHECK(position_, ==, buffer_.num_steps());
  const std::int64_t last = buffer_.num_steps();
  const at::Tensor ended = buffer_.terminated.logical_or(buffer_.truncated);
  const auto rewards = span_of<float>(buffer_.reward);
  std::vector<Moments> reward_tally(shards_.size());
  pool_.run(shards_.size(), [&](std::size_t s) {
    const c10::InferenceMode inference;
    const EnvRange range = shards_[s].range;
    const Observation batch = buffer_.obs_tensors(last, range);
    const at::Tensor value =
        policy_.replica(s)
            .forward({batch.obs.to(policy_.device()), batch.legal}, Want::value)
            .value;
    std::ranges::copy(span_of<float>(value.to(at::kCPU).contiguous()),
                      buffer_.rows<float>(buffer_.value, last, range).begin());
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
    all.insert(all.end(), shard.episodes.begin(), shard.episodes.end());
    shard.episodes.clear();
  }
  return all;
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
