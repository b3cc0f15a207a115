#include "penstock/train/engine.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "penstock/algo/warm_up.h"
#include "penstock/base/errors.h"
#include "penstock/base/stopwatch.h"
#include "penstock/fused/isa.h"
#include "train/engine_parts.h"

namespace penstock {
namespace {

std::size_t thread_count(const RunConfig& config, const Shards& shards) {
  const std::size_t wanted =
      config.threads > 0 ? static_cast<std::size_t>(config.threads) : available_cores();
  return std::min(wanted, shards.count());
}

/// Powers of two up to the pool's size, and the size; or what the config says.
std::vector<std::size_t> thread_candidates(const RunConfig& config, std::size_t size) {
  if (config.threads > 0) { return {size}; }
  std::vector<std::size_t> candidates;
  for (std::size_t count = 1; count < size; count *= 2) { candidates.push_back(count); }
  candidates.push_back(size);
  return candidates;
}

std::vector<std::size_t> block_candidates(const RunConfig& config, const Sampler& sampler,
                                          const Shards& shards) {
  if (!sampler.can_split()) { return {0}; }
  if (config.rollout.block > 0) { return {static_cast<std::size_t>(config.rollout.block)}; }
  std::vector<std::size_t> candidates;
  for (const std::size_t block : {64, 256}) {
    if (candidates.empty() || shards.range(0).size() > candidates.back()) {
      candidates.push_back(block);
    }
  }
  return candidates;
}

std::string measured(const Tuner& tuner, const char* what, double samples) {
  std::vector<std::string> rates;
  for (std::size_t i = 0; i < tuner.medians().size(); ++i) {
    rates.push_back(
        fmt::format("{}: {:.0f}k/s", tuner.candidates()[i], samples / tuner.medians()[i] / 1e3));
  }
  return fmt::format("{} = {} ({})", what, tuner.current(), fmt::join(rates, ", "));
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
      ppo(config.ppo, policy, *head, shards, pool, config.seed),
      threads(thread_candidates(config, pool.size())),
      blocks(block_candidates(config, sampler, shards)) {
  apply_tuning();
}

void Engine::Parts::apply_tuning() {
  pool.use(threads.current());
  sampler.set_block(blocks.current());
}

void Engine::Parts::record_iteration() {
  const auto samples = static_cast<double>(config.samples_per_update());
  if (threads.record(sample_s + update_s)) {
    ++choices;
    measurement = measured(threads, "threads", samples);
  } else if (!threads.medians().empty() || threads.candidates().size() == 1) {
    if (blocks.record(sample_s)) {
      ++choices;
      measurement = measured(blocks, "rollout.block", samples);
    }
  }
  sample_s = update_s = 0;
  apply_tuning();
}

Engine::Engine(const Plan& plan) : parts_(std::make_unique<Parts>(plan)) {}
Engine::~Engine() = default;

bool Engine::sample(std::int64_t num_steps) {
  const Stopwatch watch;
  parts_->sampler.advance(num_steps);
  parts_->sample_s += watch.seconds();
  return parts_->sampler.full();
}

Metrics Engine::update() {
  const auto total = static_cast<double>(std::max<std::int64_t>(1, parts_->config.total_timesteps));
  // The schedules' place is where this rollout began, so the first update has the full rate.
  const auto before = static_cast<double>(timesteps() - parts_->config.samples_per_update());
  const Stopwatch watch;
  parts_->sampler.finish();
  Metrics metrics = parts_->ppo.update(parts_->buffer, std::clamp(before / total, 0.0, 1.0));
  parts_->envs->between_rollouts();
  parts_->sampler.restart();
  parts_->update_s = watch.seconds();
  parts_->record_iteration();
  return metrics;
}

Engine::Tuning Engine::tuning() const {
  return {parts_->threads.current(), parts_->blocks.current(), parts_->measurement,
          parts_->choices};
}

bool Engine::fused() const { return parts_->policy.is_fused(); }

std::int64_t Engine::timesteps() const {
  return parts_->sampler.steps_per_env() * parts_->config.env.num_envs;
}
std::int64_t Engine::num_updates() const { return parts_->policy.version(); }
std::int64_t Engine::steps_left() const {
  return parts_->buffer.num_steps() - parts_->sampler.position();
}
Sampler& Engine::sampler() { return parts_->sampler; }
VecEnv& Engine::envs() { return *parts_->envs; }
const VecEnv& Engine::envs() const { return *parts_->envs; }
ThreadPool& Engine::pool() { return parts_->pool; }

Actor Engine::actor() {
  return {parts_->policy, *parts_->head,
          parts_->config.normalise.obs ? &parts_->sampler.obs_normaliser() : nullptr,
          parts_->envs.get()};
}

std::string Engine::digest() const {
  std::vector<std::byte> bytes;
  const at::Tensor flat = parts_->policy.weights().to(at::kCPU);
  for (const ParameterSlot& slot : parts_->policy.slots()) {
    const auto* name = reinterpret_cast<const std::byte*>(slot.name.data());
    const at::Tensor weights = Policy::view(flat, slot).contiguous();
    const auto* data = static_cast<const std::byte*>(weights.data_ptr());
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
