#include "penstock/core/train/engine.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/train/engine_parts.h"
#include "core/train/intake.h"
#include "core/train/sampling_parts.h"
#include "penstock/core/algo/warm_up.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/stopwatch.h"
#include "penstock/core/fused/isa.h"

namespace penstock {
namespace {

constexpr std::size_t kMostPerCore = 4;  // threads, of envs that wait

std::size_t thread_count(const RunConfig& config, const Shards& shards) {
  const std::size_t wanted = config.threads > 0 ? static_cast<std::size_t>(config.threads)
                                                : kMostPerCore * available_cores();
  return std::min(wanted, shards.count());
}

/// As the sampler sees it; or the learner, which then waits for others and so cannot time itself.
RunConfig sampler_config(const RunPlan& plan, const AsyncConfig& async, const Carrier* carrier) {
  RunConfig config = plan.config();
  if (carrier != nullptr) {
    config.threads = static_cast<std::int64_t>(threads_of(plan));
  } else if (async.sampler_threads > 0) {
    config.threads = async.sampler_threads;
  }
  return config;
}

/// Of samplers elsewhere this process has one env, which tells what they are like.
EnvSlice slice_of(const Shards& shards, const Carrier* carrier) {
  if (carrier == nullptr) { return shards.slice(); }
  return {.first = 0, .count = 1, .of = shards.total_envs()};
}

/// Updates that the learner, on a thread beside this process's sampler, may be behind.
std::int64_t lag_here(const RunPlan& plan, const Carrier* carrier) {
  return carrier == nullptr ? plan.algorithm().async().max_lag : 0;
}

std::unique_ptr<ThreadPool> make_learner_pool(const RunPlan& plan, const Shards& shards,
                                              std::int64_t lag) {
  if (lag == 0) { return nullptr; }
  return std::make_unique<ThreadPool>(
      ThreadPool::Options{.num_threads = std::min(threads_of(plan), shards.count()),
                          .pin = false,  // the cores are the sampler's too
                          .on_start = use_one_torch_thread});
}

std::vector<Fragment> make_fragments(const RunPlan& plan, const EnvSpec& spec, const Shards& shards,
                                     std::int64_t lag) {
  std::vector<Fragment> fragments;
  for (std::int64_t i = 0; i <= lag; ++i) {
    fragments.emplace_back(spec, plan.horizon(), static_cast<std::int64_t>(shards.num_envs()));
  }
  return fragments;
}

void require_alone(const Peers& peers, const AsyncConfig& async) {
  if (peers.alone() || async.max_lag == 0) { return; }
  throw ConfigError(
      "async.max_lag: the processes of a run learn in step; use --algo ppo (or a2c), or one "
      "process");
}

/// Powers of two up to the cores, and their number; or what the config says.
std::vector<std::size_t> thread_candidates(const RunConfig& config, std::size_t size) {
  if (config.threads > 0) { return {size}; }
  const std::size_t most = std::min(size, available_cores());
  std::vector<std::size_t> candidates;
  for (std::size_t count = 1; count < most; count *= 2) { candidates.push_back(count); }
  candidates.push_back(most);
  return candidates;
}

/// Beyond the cores, as far as the pool goes.
std::vector<std::size_t> thread_reserve(const RunConfig& config, std::size_t size) {
  std::vector<std::size_t> reserve;
  if (config.threads > 0) { return reserve; }
  for (std::size_t count = 2 * available_cores(); count <= size; count *= 2) {
    reserve.push_back(count);
  }
  return reserve;
}

std::vector<std::size_t> block_candidates(const RunConfig& config, const Sampler* sampler,
                                          const Shards& shards) {
  if (sampler == nullptr || !sampler->can_split()) { return {0}; }
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
          .normalise_obs = config.normalise.obs,
          .clip_obs = config.normalise.clip_obs};
}

double clip_obs_of(const RunConfig& config) {
  return config.normalise.obs ? config.normalise.clip_obs : 0;
}

Fusion fusion_of(const std::string& learner) {
  return learner == "eager"   ? Fusion::never
         : learner == "fused" ? Fusion::always
                              : Fusion::when_fit;
}

/// Notes of all processes' envs for all processes.
SharedLearner::Join join_over(Peers& peers) {
  if (peers.alone()) { return {}; }
  return [&peers](std::span<const std::byte> here) {
    std::vector<std::byte> all;
    for (const auto& part : peers.gather(here)) { all.insert(all.end(), part.begin(), part.end()); }
    peers.broadcast(all);
    return all;
  };
}

/// Before any thread of the pool exists, see warm_up() and use_isa().
Policy warm_policy(const RunPlan& plan, const EnvSpec& spec, const ActionHead& head,
                   const Shards& shards) {
  Policy policy = make_policy(plan, spec, shards.count());
  warm_up(plan.algorithm(), policy, head, shards, spec, plan.horizon());
  return policy;
}

}  // namespace

Policy make_policy(const RunPlan& plan, const EnvSpec& spec, std::size_t num_shards) {
  use_one_torch_thread();
  const RunConfig& config = plan.config();
  fused::use_isa(config.isa);
  return Policy(
      [&network = plan.network(), spec, seed = config.seed] { return network.make(spec, seed); },
      num_shards, device_of(config.device), fusion_of(config.learner));
}

Engine::Parts::Parts(const RunPlan& plan, Peers& peers, Carrier* carrier)
    : async(plan.algorithm().async()),
      config(sampler_config(plan, async, carrier)),
      lag(lag_here(plan, carrier)),
      samples_per_update(plan.samples_per_update()),
      shards(static_cast<std::size_t>(config.env.num_envs),
             static_cast<std::size_t>(config.rollout.shards), peers.rank(), peers.size()),
      join(join_over(peers)),
      envs(plan.env().make_slice(slice_of(shards, carrier), config.seed)),
      head(make_action_head(envs->spec().action, config.net.squash)),
      policy(warm_policy(plan, envs->spec(), *head, shards)),
      pool({.num_threads = thread_count(config, shards),
            .pin = config.pin_threads,
            .on_start = use_one_torch_thread}),
      learner_pool(make_learner_pool(plan, shards, lag)),
      fragments(make_fragments(plan, envs->spec(), shards, lag)),
      learner(plan.algorithm().make({.policy = policy,
                                     .head = *head,
                                     .shards = shards,
                                     .pool = learner_pool ? *learner_pool : pool,
                                     .peers = peers,
                                     .seed = config.seed,
                                     .scale_rewards = config.normalise.reward,
                                     .clip_reward = config.normalise.clip_reward})),
      shape(policy.shape(envs->spec(), head, clip_obs_of(config))),
      acting(policy.publish(shape, {})),
      source(make_source(plan, peers, carrier)),
      threads(thread_candidates(config, pool.size()), thread_reserve(config, pool.size())),
      blocks(block_candidates(config, sampler, shards)) {
  require_alone(peers, async);
  apply_tuning();
  if (lag == 0) { return; }
  aside = std::make_unique<LearnerThread>([this](Fragment& fragment, double progress) {
    use_one_torch_thread();
    return learn(fragment, progress);
  });
}

std::unique_ptr<FragmentSource> Engine::Parts::make_source(const RunPlan& plan, Peers& peers,
                                                           Carrier* carrier) {
  if (carrier != nullptr) {
    detail::require_remote(plan, *envs);
    auto intake = std::make_unique<detail::Intake>(*carrier, buffer(), async.max_lag);
    intake->adopt(acting);
    return intake;
  }
  auto here = std::make_unique<Sampler>(*envs, detail::make_actors(acting, shards), shards,
                                        buffer(), pool, peers, sampler_options(config));
  sampler = here.get();
  return here;
}

Learnt Engine::Parts::learn(Fragment& fragment, double progress) {
  Learnt learnt;
  const std::int64_t behind = policy.version() - fragment.version.min().item<std::int64_t>();
  try {
    learnt.metrics = learner->update(fragment, progress);
    if (async.max_lag > 0 || async.sync_every > 1) {
      learnt.metrics.emplace_back("async/lag", behind);
    }
    for (const auto& [name, value] : source->metrics()) {
      learnt.metrics.emplace_back(name, value);
    }
    learnt.model = policy.publish(shape, {});
  } catch (...) { learnt.failure = std::current_exception(); }
  learnt.skipped = learner->take_skipped();
  return learnt;
}

Learnt Engine::Parts::hand_over(double progress) {
  if (!aside) { return learn(buffer(), progress); }
  aside->give(buffer(), progress);
  filling = (filling + 1) % fragments.size();
  // The fragment after this one is of the version that lies max_lag updates before it, whoever was
  // faster: results depend on no timing.
  return aside->num_pending() > static_cast<std::size_t>(lag) ? aside->take() : Learnt{};
}

Metrics Engine::Parts::take_up(Learnt learnt) {
  for (SkippedMinibatch& each : learnt.skipped) { skipped.push_back(std::move(each)); }
  if (learnt.failure) { std::rethrow_exception(learnt.failure); }
  if (learnt.model) {
    num_updates = learnt.model->version();
    if (num_updates % async.sync_every == 0) { act_by(learnt.model); }
  }
  return std::move(learnt.metrics);
}

void Engine::Parts::act_by(std::shared_ptr<const PolicyModel> model) {
  source->adopt(model);
  acting = std::move(model);
}

void Engine::Parts::settle() const {
  if (aside) { aside->settle(); }
}

std::shared_ptr<const PolicyModel> Engine::Parts::publish() const {
  return policy.publish(shape, source->obs_normaliser());
}

void Engine::Parts::apply_tuning() {
  pool.use(threads.current());
  if (sampler != nullptr) { sampler->set_block(blocks.current()); }
}

void Engine::Parts::record_iteration() {
  const double samples = samples_per_update;
  const double seconds = sample_s + update_s;
  const double cpu_s = cpu_seconds();
  const double busy = (cpu_s - cpu_before_s) / std::max(1e-9, seconds * pool.num_used());
  cpu_before_s = cpu_s;
  if (threads.record(seconds, busy)) {
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

Engine::Engine(const RunPlan& plan, Peers& peers, Carrier* carrier)
    : parts_(std::make_unique<Parts>(plan, peers, carrier)) {}
Engine::~Engine() = default;

bool Engine::sample(std::int64_t num_steps) {
  const Stopwatch watch;
  try {
    parts_->source->advance(num_steps);
  } catch (...) {
    parts_->whole = parts_->source->whole();
    throw;
  }
  parts_->sample_s += watch.seconds();
  return parts_->source->full();
}

Metrics Engine::update(double done) {
  const double total = std::max<std::int64_t>(1, parts_->config.total_timesteps);
  // The schedules' place is where this rollout began, so the first update has the full rate.
  const double before = timesteps() - parts_->samples_per_update;
  const Stopwatch watch;
  parts_->whole = false;
  parts_->source->finish();
  const double progress = std::clamp(std::max(before / total, done), 0.0, 1.0);
  Metrics metrics = parts_->take_up(parts_->hand_over(progress));
  if (SharedLearner* shared = parts_->envs->shared()) { shared->between_rollouts(parts_->join); }
  parts_->source->restart(parts_->buffer());
  parts_->whole = true;
  parts_->update_s = watch.seconds();
  parts_->record_iteration();
  return metrics;
}

std::int64_t Engine::num_behind() const {
  return parts_->aside ? static_cast<std::int64_t>(parts_->aside->num_pending()) : 0;
}

Metrics Engine::catch_up() {
  parts_->whole = false;
  Metrics metrics = parts_->take_up(parts_->aside->take());
  parts_->whole = true;
  return metrics;
}

void Engine::rest() noexcept {
  try {
    parts_->settle();
  } catch (...) {
    // As told.
  }
}

Engine::Tuning Engine::tuning() const {
  return {parts_->threads.current(), parts_->blocks.current(), parts_->measurement,
          parts_->choices};
}

double Engine::cpu_used_s() const { return cpu_seconds() + parts_->envs->processes().cpu_s; }
bool Engine::whole() const { return parts_->whole; }
std::vector<SkippedMinibatch> Engine::take_skipped() { return std::exchange(parts_->skipped, {}); }
std::optional<double> Engine::learner_idle_s() const {
  if (!parts_->aside) { return std::nullopt; }
  return parts_->aside->waited_s();
}
bool Engine::fused() const { return parts_->policy.is_fused(); }

std::int64_t Engine::timesteps() const {
  return parts_->source->steps_per_env() * parts_->config.env.num_envs;
}
std::int64_t Engine::num_updates() const { return parts_->num_updates; }
std::int64_t Engine::steps_left() const {
  return parts_->buffer().num_steps() - parts_->source->position();
}
FragmentSource& Engine::source() { return *parts_->source; }
VecEnv& Engine::envs() { return *parts_->envs; }
const VecEnv& Engine::envs() const { return *parts_->envs; }
ThreadPool& Engine::pool() { return parts_->pool; }

std::shared_ptr<const PolicyModel> Engine::model() const {
  parts_->settle();
  return parts_->publish();
}

Player Engine::player() const { return {model(), save_shared(*parts_->envs)}; }

std::string Engine::digest() const {
  parts_->settle();
  std::vector<std::byte> bytes;
  const at::Tensor flat = parts_->policy.weights().to(at::kCPU);
  for (const ParameterSlot& slot : parts_->policy.slots()) {
    const auto* name = reinterpret_cast<const std::byte*>(slot.name.data());
    const at::Tensor weights = Policy::view(flat, slot).contiguous();
    const auto* data = static_cast<const std::byte*>(weights.data_ptr());
    bytes.insert(bytes.end(), name, name + slot.name.size());
    bytes.insert(bytes.end(), data, data + slot.size * sizeof(float));
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

std::size_t threads_of(const RunPlan& plan) {
  const std::int64_t given = plan.config().threads;
  return given > 0 ? static_cast<std::size_t>(given) : available_cores();
}

void use_one_torch_thread() { at::set_num_threads(1); }

}  // namespace penstock
