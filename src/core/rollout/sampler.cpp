#include "penstock/core/rollout/sampler.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/rollout/sampler_shard.h"
#include "penstock/core/base/check.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/stopwatch.h"

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
                                    std::size_t width, std::size_t first_env, std::int64_t step) {
  std::size_t i = 0;
  while ((i + 1) * width < rows.size() && all_finite(rows.subspan(i * width, width))) { ++i; }
  throw DataError("env " + std::to_string(first_env + i) + ", step " + std::to_string(step) +
                  ": the " + what + " is not finite; look for NaN or overflow in the env");
}

}  // namespace

Sampler::Sampler(VecEnv& envs, std::vector<std::unique_ptr<Actor>> actors, const Shards& shards,
                 Fragment& buffer, ThreadPool& pool, Peers& peers, const Options& options)
    : envs_(envs),
      buffer_(&buffer),
      pool_(pool),
      peers_(peers),
      options_(options),
      first_env_(shards.slice().first),
      total_shards_(shards.total()),
      independent_rows_(actors.at(0)->rows_are_independent()),
      shards_(shards.count()) {
  PENSTOCK_CHECK(actors.size(), ==, shards.count());
  const EnvSpec& spec = envs.spec();
  if (options.normalise_obs) { obs_normaliser_ = ObsNormaliser(spec.obs, options.clip_obs); }
  for (std::size_t s = 0; s < shards.count(); ++s) {
    Shard& shard = shards_[s];
    shard.number = shards.number(s);
    shard.actor = std::move(actors[s]);
    shard.range = shards.range(s);
    shard.obs_tally.resize(obs_normaliser_.moments().size());
  }
  set_block(kDefaultBlock);
  mark_ = std::make_unique<Mark>();
  mark_->shards.resize(shards_.size());
  carry_obs_ = at::zeros_like(buffer.obs[0]);
  if (buffer.legal.defined()) { carry_legal_ = at::zeros_like(buffer.legal[0]); }
}

/// A tally of observations depends on their order, and so on blocks and segments; a policy that is
/// not fused on the number of rows.
/// Why blocks at all: a shard of thousands of envs would stream its rows through the cache once to
/// step and once to act. A block's rows are still in the first-level cache when the policy reads
/// them.
void Sampler::set_block(std::size_t size) {
  const EnvSpec& spec = envs_.spec();
  for (Shard& shard : shards_) {
    const std::size_t whole = shard.range.size();
    shard.block_size = can_split() && size > 0 ? std::min(size, whole) : whole;
    shard.env_actions.resize(spec.action.continuous() ? shard.block_size * spec.action.dims() : 0);
    shard.final_obs.resize(shard.block_size * spec.obs.size());
    shard.ended.resize(shard.block_size);
  }
}

Sampler::~Sampler() = default;

void Sampler::adopt(const std::shared_ptr<const PolicyModel>& model) {
  pool_.run(shards_.size(), [&](std::size_t s) { shards_[s].actor->adopt(model); });
}

void Sampler::begin() {
  begun_ = true;
  pool_.run(shards_.size(), [this](std::size_t s) {
    const EnvRange range = shards_[s].range;
    const ObsRows rows = buffer_->obs_rows(0, range);
    envs_.reset(range, rows);
    check_and_normalise(shards_[s], range, -1);
  });
}

void Sampler::restart(Fragment& into) {
  PENSTOCK_CHECK(position_, ==, buffer_->num_steps());
  PENSTOCK_CHECK(into.num_samples(), ==, buffer_->num_samples());
  buffer_ = &into;
  position_ = 0;
  fill_first_row();
}

/// From the raw rows, scaled anew: the normaliser has moved on since they were written.
void Sampler::fill_first_row() {
  buffer_->obs[0].copy_(carry_obs_);
  if (carry_legal_.defined()) { buffer_->legal[0].copy_(carry_legal_); }
  if (options_.normalise_obs) { obs_normaliser_.apply(span_of<float>(buffer_->obs[0])); }
}

void Sampler::advance(std::int64_t num_steps) {
  const std::int64_t end = std::min(position_ + num_steps, buffer_->num_steps());
  set_mark();
  try {
    if (!begun_) { begin(); }
    advance_to(end);
  } catch (...) {
    return_to_mark();
    throw;
  }
  steps_per_env_ += end - position_;
  position_ = end;
}

void Sampler::advance_to(std::int64_t end) {
  const bool interleaved = envs_.async() != nullptr;
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
}

void Sampler::run_blocks(Shard& shard, std::int64_t end) {
  for (std::size_t first = shard.range.begin; first < shard.range.end; first += shard.block_size) {
    const EnvRange block{first, std::min(first + shard.block_size, shard.range.end)};
    for (std::int64_t t = position_; t < end; ++t) {
      act(shard, block, t);
      const Stopwatch watch;
      envs_.step(block, env_actions(shard, block, t), buffer_->obs_rows(t + 1, block),
                 outcome_rows(shard, block, t));
      shard.time.env += watch.seconds();
      record_step(shard, block, t);
    }
  }
}

/// All shards of a lane are sent off before the first is waited for, and each is sent off again as
/// soon as it is read: while the policy acts for one, the workers step the others. Shard by shard
/// the order of calls is as in run_blocks(), so the numbers are the same.
void Sampler::interleave(std::size_t lane, std::size_t lanes, std::int64_t end) {
  const auto each = [&](auto&& visit) {
    for (std::size_t s = lane; s < shards_.size(); s += lanes) { visit(shards_[s]); }
  };
  AsyncStepper& stepper = *envs_.async();
  const auto send = [&](Shard& shard, std::int64_t t) {
    act(shard, shard.range, t);
    stepper.start_step(shard.range, env_actions(shard, shard.range, t));
  };
  each([&](Shard& shard) { send(shard, position_); });
  for (std::int64_t t = position_; t < end; ++t) {
    each([&](Shard& shard) {
      const Stopwatch watch;
      stepper.finish_step(shard.range, buffer_->obs_rows(t + 1, shard.range),
                          outcome_rows(shard, shard.range, t));
      shard.time.env += watch.seconds();
      record_step(shard, shard.range, t);
      if (t + 1 < end) { send(shard, t + 1); }
    });
  }
}

/// What a step brought: episodes, checks, scaling, the value of what was cut off.
void Sampler::record_step(Shard& shard, EnvRange block, std::int64_t t) {
  Stopwatch watch;
  note_episodes(shard, block, t);
  check_and_normalise(shard, block, t);
  shard.time.copy += watch.lap();
  value_truncated(shard, block, t);
  shard.time.infer += watch.lap();
}

void Sampler::act(Shard& shard, EnvRange block, std::int64_t t) {
  const Stopwatch watch;
  const ObsRows rows = buffer_->obs_rows(t, block);
  ActResult into{.log_prob = buffer_->rows<float>(buffer_->log_prob, t, block),
                 .value = buffer_->rows<float>(buffer_->value, t, block)};
  if (buffer_->continuous()) {
    into.points = buffer_->rows<float>(buffer_->actions, t, block);
    into.env_points = std::span(shard.env_actions).first(into.points.size());
  } else {
    into.choices = buffer_->rows<std::int64_t>(buffer_->actions, t, block);
  }
  const auto step = static_cast<std::uint64_t>(steps_per_env_ + t - position_);
  const ActionNoise noise{
      .seed = options_.seed, .first_env = first_env_ + block.begin, .step = step};
  shard.actor->act(
      {.count = block.size(), .obs = rows.obs, .legal = rows.legal, .normalised = true}, into,
      &noise);
  std::ranges::fill(buffer_->rows<std::int64_t>(buffer_->version, t, block),
                    shard.actor->model().version());
  shard.time.infer += watch.seconds();
}

ActionRows Sampler::env_actions(const Shard& shard, EnvRange block, std::int64_t t) const {
  if (buffer_->continuous()) { return {.choices = {}, .points = shard.env_actions}; }
  return {.choices = buffer_->rows<const std::int64_t>(buffer_->actions, t, block), .points = {}};
}

OutcomeRows Sampler::outcome_rows(Shard& shard, EnvRange block, std::int64_t t) {
  return {.reward = buffer_->rows<float>(buffer_->reward, t, block),
          .terminated = buffer_->rows<bool>(buffer_->terminated, t, block),
          .truncated = buffer_->rows<bool>(buffer_->truncated, t, block),
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
      shard.ended[i].env = first_env_ + block.begin + i;
      shard.episodes.push_back({steps_per_env_ + t - position_, shard.ended[i]});
    }
  }
}

/// Checks what the envs handed over after step t (-1: the first reset) and scales it in place.
void Sampler::check_and_normalise(Shard& shard, EnvRange range, std::int64_t t) {
  const std::int64_t step = steps_per_env_ + t - position_;
  const auto obs = buffer_->obs_rows(t + 1, range).obs;
  if (!all_finite(obs)) {
    report_not_finite("observation", obs, envs_.spec().obs.size(), first_env_ + range.begin, step);
  }
  if (t >= 0) {
    const auto reward = buffer_->rows<float>(buffer_->reward, t, range);
    if (!all_finite(reward)) {
      report_not_finite("reward", reward, 1, first_env_ + range.begin, step);
    }
  }
  if (t + 1 == buffer_->num_steps()) {
    std::ranges::copy(obs, buffer_->rows<float>(carry_obs_.unsqueeze(0), 0, range).begin());
    if (carry_legal_.defined()) {
      std::ranges::copy(buffer_->obs_rows(t + 1, range).legal,
                        buffer_->rows<bool>(carry_legal_.unsqueeze(0), 0, range).begin());
    }
  }
  if (options_.normalise_obs) {
    obs_normaliser_.tally(obs, shard.obs_tally);
    obs_normaliser_.apply(obs);
  }
}

/// What the future was worth where an episode was cut off.
void Sampler::value_truncated(Shard& shard, EnvRange block, std::int64_t t) {
  const auto terminated = buffer_->rows<bool>(buffer_->terminated, t, block);
  const auto truncated = buffer_->rows<bool>(buffer_->truncated, t, block);
  const auto final_value = buffer_->rows<float>(buffer_->final_value, t, block);
  const std::size_t features = envs_.spec().obs.size();
  std::ranges::fill(final_value, 0.0F);
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (terminated[i] || !truncated[i]) { continue; }
    const std::span<float> row = std::span(shard.final_obs).subspan(i * features, features);
    if (!all_finite(row)) {
      throw DataError("env " + std::to_string(first_env_ + block.begin + i) +
                      ": the final observation is not finite");
    }
    if (options_.normalise_obs) { obs_normaliser_.apply(row); }
    // One row at a time: truncations are rare, and their number must not change the arithmetic.
    shard.actor->act({.count = 1, .obs = row, .normalised = true},
                     {.value = final_value.subspan(i, 1)});
  }
}

void Sampler::finish() {
  PENSTOCK_CHECK(position_, ==, buffer_->num_steps());
  const std::int64_t last = buffer_->num_steps();
  pool_.run(shards_.size(), [&](std::size_t s) {
    const EnvRange range = shards_[s].range;
    const ObsRows rows = buffer_->obs_rows(last, range);
    shards_[s].actor->act(
        {.count = range.size(), .obs = rows.obs, .legal = rows.legal, .normalised = true},
        {.value = buffer_->rows<float>(buffer_->value, last, range)});
  });
  if (!options_.normalise_obs) { return; }
  tree_reduce(std::span(shards_), [](Shard& a, const Shard& b) {
    for (std::size_t f = 0; f < a.obs_tally.size(); ++f) { a.obs_tally[f].merge(b.obs_tally[f]); }
  });
  peers_.merge(shards_[0].obs_tally);
  obs_normaliser_.merge(shards_[0].obs_tally);
  for (Shard& shard : shards_) { std::ranges::fill(shard.obs_tally, Moments{}); }
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
