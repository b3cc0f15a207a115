#include "penstock/core/train/remote_sampler.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/train/fragment_message.h"
#include "core/train/packing.h"
#include "core/train/sampling_parts.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/core/rollout/sampler.h"
#include "penstock/core/train/engine.h"

namespace penstock {
namespace {

/// A seat has as many shards as its share of the run's, at least one.
Shards shards_of(const RunConfig& config, const RemoteSampler::Seat& seat) {
  const auto share = static_cast<std::size_t>(config.rollout.shards) / seat.of;
  return {static_cast<std::size_t>(config.env.num_envs), seat.of * std::max<std::size_t>(share, 1),
          seat.number, seat.of};
}

/// Who comes after one that died must not live through its episodes again.
RunConfig config_of(RunConfig config, std::int64_t epoch) {
  constexpr std::uint32_t kNoEnv = ~0U;  // episodes of envs have other seeds
  constexpr int kFewerBits = 33;         // some envs of Python take 31 bits only
  if (epoch > 0) {
    config.seed =
        episode_seed(config.seed, kNoEnv, static_cast<std::uint64_t>(epoch)) >> kFewerBits;
  }
  return config;
}

std::size_t pool_size(const RunConfig& config, const Shards& shards) {
  const std::int64_t wanted = config.threads > 0 ? config.threads : 1;
  return std::min(static_cast<std::size_t>(wanted), shards.count());
}

std::vector<std::byte> bytes_of(const at::Tensor& tensor) {
  if (!tensor.defined()) { return {}; }
  const auto* data = static_cast<const std::byte*>(tensor.data_ptr());
  return {data, data + tensor.nbytes()};
}

at::Tensor tensor_of(const std::vector<std::byte>& bytes, const at::Tensor& like) {
  if (!like.defined()) { return {}; }
  if (bytes.size() != like.nbytes()) {
    throw DataError("a sampler's state is of another number of envs");
  }
  at::Tensor tensor = at::empty_like(like);
  std::ranges::copy(bytes, static_cast<std::byte*>(tensor.data_ptr()));
  return tensor;
}

/// What it takes to go on.
struct Saved {
  std::int64_t seat = 0;
  std::int64_t number = 0;
  std::int64_t steps_per_env = 0;
  std::vector<std::byte> carry_obs;
  std::vector<std::byte> carry_legal;
  std::vector<std::vector<std::byte>> envs;
  template <class Archive>
  void state(Archive& archive) {
    archive(seat, number, steps_per_env, carry_obs, carry_legal, envs);
  }
};

}  // namespace

struct RemoteSampler::Parts {
  Parts(const RunPlan& plan, const Seat& given)
      : seat(given),
        config(config_of(plan.config(), given.epoch)),
        shards(shards_of(config, given)),
        envs(plan.env().make_slice(shards.slice(), config.seed)),
        head(make_action_head(envs->spec().action, config.net.squash)),
        policy(make_policy(plan, envs->spec(), 1)),
        shape(policy.shape(envs->spec(), head, 0)),
        pool({.num_threads = pool_size(config, shards),
              .pin = false,
              .on_start = use_one_torch_thread}),
        fragment(envs->spec(), plan.horizon(), static_cast<std::int64_t>(shards.num_envs())),
        acting(policy.publish(shape, {})),
        sampler(*envs, detail::make_actors(acting, shards), shards, fragment, pool, alone(),
                {.seed = config.seed}) {}

  Seat seat;
  RunConfig config;
  Shards shards;
  std::unique_ptr<VecEnv> envs;
  std::shared_ptr<const ActionHead> head;
  Policy policy;  // what it is like; its weights are never used
  std::shared_ptr<const PolicyShape> shape;
  ThreadPool pool;
  Fragment fragment;
  std::shared_ptr<const PolicyModel> acting;
  Sampler sampler;
  std::int64_t number = 0;  // fragments filled in this epoch
};

RemoteSampler::RemoteSampler(const RunPlan& plan, const Seat& seat)
    : parts_(std::make_unique<Parts>(plan, seat)) {
  detail::require_remote(plan, *parts_->envs);
}
RemoteSampler::~RemoteSampler() = default;

std::size_t RemoteSampler::num_weights() const {
  return static_cast<std::size_t>(parts_->shape->num_floats);
}

void RemoteSampler::adopt(std::span<const float> weights, std::int64_t version) {
  if (weights.size() != num_weights()) {
    throw DataError(
        fmt::format("a version of the policy has {} weights, and this sampler's network {}: they "
                    "are of different configs",
                    weights.size(), num_weights()));
  }
  parts_->acting =
      std::make_shared<const PolicyModel>(parts_->shape, weights, ObsNormaliser(), version);
  parts_->sampler.adopt(parts_->acting);
}

std::vector<std::byte> RemoteSampler::fill() {
  Parts& p = *parts_;
  p.sampler.advance(p.fragment.num_steps());
  p.sampler.finish();
  detail::FragmentLabel label{.seat = static_cast<std::int64_t>(p.seat.number),
                              .epoch = p.seat.epoch,
                              .number = p.number,
                              .version = p.acting->version(),
                              .discarded = p.sampler.take_discarded(),
                              .time = p.sampler.take_time(),
                              .episodes = detail::travelling(p.sampler.take_episodes()),
                              .incidents = {}};
  for (Incident& each : p.sampler.take_incidents()) {
    label.incidents.push_back({std::move(each)});
  }
  std::vector<std::byte> message = detail::to_message(label, p.fragment);
  ++p.number;
  p.sampler.restart();
  return message;
}

std::vector<std::byte> RemoteSampler::save() const {
  Parts& p = *parts_;
  const Sampler::State state = p.sampler.save();
  Saved saved{.seat = static_cast<std::int64_t>(p.seat.number),
              .number = p.number,
              .steps_per_env = state.steps_per_env,
              .carry_obs = bytes_of(state.carry_obs),
              .carry_legal = bytes_of(state.carry_legal),
              .envs = std::vector<std::vector<std::byte>>(p.envs->num_envs())};
  for (std::size_t i = 0; i < saved.envs.size(); ++i) { p.envs->save(i, saved.envs[i]); }
  return detail::packed(saved);
}

void RemoteSampler::load(std::span<const std::byte> state) {
  Parts& p = *parts_;
  const auto saved = detail::unpacked<Saved>(state);
  if (saved.seat != static_cast<std::int64_t>(p.seat.number) ||
      saved.envs.size() != p.envs->num_envs()) {
    throw DataError(
        fmt::format("a sampler's state is of seat {} with {} envs, not of seat {} with {}",
                    saved.seat, saved.envs.size(), p.seat.number, p.envs->num_envs()));
  }
  for (std::size_t i = 0; i < saved.envs.size(); ++i) { p.envs->load(i, saved.envs[i]); }
  Sampler::State into = p.sampler.save();
  into.position = 0;
  into.steps_per_env = saved.steps_per_env;
  into.carry_obs = tensor_of(saved.carry_obs, into.carry_obs);
  into.carry_legal = tensor_of(saved.carry_legal, into.carry_legal);
  p.sampler.load(into);
  p.number = saved.number;
}

}  // namespace penstock
