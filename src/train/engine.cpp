#include "penstock/train/engine.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>

#include "penstock/algo/warm_up.h"
#include "penstock/base/errors.h"
#include "penstock/fused/isa.h"
#include "train/engine_parts.h"

namespace penstock {
namespace {

std::size_t thread_count(const RunConfig& config, const Shards& shards) {
  const std::size_t wanted =
      config.threads > 0 ? static_cast<std::size_t>(config.threads) : available_cores();
  return std::min(wanted, shards.count());
}

Sampler::Options sampler_options(const RunConfig& config) {
  return {.seed = config.seed,
          .gamma = config.ppo.gamma,
          .lambda = config.ppo.gae_lambda,
          .normalise = config.normalise};
}

Fusion fusion_of(const std::string& learner) {
  return learner == "eager"   ? Fusion::never
         : learner == "fused" ? Fusion::always
                              : Fusion::when_fit;
}

/// Before any thread of the pool exists, see warm_up() and use_isa().
Policy make_policy(const Plan& plan, const EnvSpec& spec, const ActionHead& head,
                   const Shards& shards) {
  use_one_torch_thread();
  const RunConfig& config = plan.config();
  fused::use_isa(config.isa);
  Policy policy([&] { return plan.network().make(spec, config.net, config.seed); }, shards.count(),
                device_of(config.device), fusion_of(config.learner));
  warm_up(config.ppo, policy, head, shards, spec, config.horizon());
  return policy;
}

}  // namespace

Engine::Parts::Parts(const Plan& plan)
    : config(plan.config()),
      envs(plan.env().make(static_cast<std::size_t>(config.env.num_envs), config.seed)),
      shards(static_cast<std::size_t>(config.env.num_envs),
             static_cast<std::size_t>(config.rollout.shards)),
      head(make_action_head(envs->spec().action, config.net.squash)),
      policy(make_policy(plan, envs->spec(), *head, shards)),
      pool({.num_threads = thread_count(config, shards),
            .pin = config.pin_threads,
            .on_start = use_one_torch_thread}),
      buffer(envs->spec(), config.horizon(), config.env.num_envs),
      sampler(*envs, policy, *head, shards, buffer, pool, sampler_options(config)),
      ppo(config.ppo, policy, *head, shards, pool, config.seed) {}

Engine::Engine(const Plan& plan) : parts_(std::make_unique<Parts>(plan)) {}
Engine::~Engine() = default;

bool Engine::sample(std::int64_t num_steps) {
  parts_->sampler.advance(num_steps);
  return parts_->sampler.full();
}

Metrics Engine::update() {
  const auto total = static_cast<double>(std::max<std::int64_t>(1, parts_->config.total_timesteps));
  // The schedules' place is where this rollout began, so the first update has the full rate.
  const auto before = static_cast<double>(timesteps() - parts_->config.samples_per_update());
  parts_->sampler.finish();
  Metrics metrics = parts_->ppo.update(parts_->buffer, std::clamp(before / total, 0.0, 1.0));
  parts_->sampler.restart();
  return metrics;
}

std::int64_t Engine::timesteps() const {
  return parts_->sampler.steps_per_env() * parts_->config.env.num_envs;
}
std::int64_t Engine::num_updates() const { return parts_->policy.version(); }
std::int64_t Engine::steps_left() const {
  return parts_->buffer.num_steps() - parts_->sampler.position();
}
Sampler& Engine::sampler() { return parts_->sampler; }
ThreadPool& Engine::pool() { return parts_->pool; }

Actor Engine::actor() {
  return {parts_->policy, *parts_->head,
          parts_->config.normalise.obs ? &parts_->sampler.obs_normaliser() : nullptr};
}

std::string Engine::digest() const {
  std::vector<std::byte> bytes;
  const at::Tensor weights = parts_->policy.weights().to(at::kCPU);
  for (const ParameterSlot& slot : parts_->policy.slots()) {
    const auto* name = reinterpret_cast<const std::byte*>(slot.name.data());
    const auto* data = reinterpret_cast<const std::byte*>(weights.data_ptr<float>() + slot.offset);
    bytes.insert(bytes.end(), name, name + slot.name.size());
    bytes.insert(bytes.end(), data, data + slot.size * static_cast<std::int64_t>(sizeof(float)));
  }
  return xxh3_hex(bytes);
}

at::Device device_of(const std::string& name) {
  if (name == "cuda" && !at::hasCUDA()) {
    throw ConfigError(
        "device = cuda: this libtorch sees no CUDA device; use --device cpu, or install "
        "a CUDA build of torch 2.13 and its driver");
  }
  if (name == "mps" && !at::hasMPS()) {
    throw ConfigError("device = mps: this libtorch has no Metal support; use --device cpu");
  }
  return at::Device(name);
}

void use_one_torch_thread() { at::set_num_threads(1); }

}  // namespace penstock
