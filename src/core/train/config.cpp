#include "penstock/core/train/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/train/key_names.h"
#include "penstock/core/algo/learner.h"
#include "penstock/core/algo/ppo.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/find_entry.h"
#include "penstock/core/nn/network.h"

namespace penstock {
namespace {

constexpr std::int64_t kEndless = 1'000'000'000'000'000;  // steps; what total_timesteps may say

std::string chosen(const Settings& settings, const char* path, const std::string& otherwise) {
  const Setting* setting = settings.find(path);
  return setting == nullptr ? otherwise : setting->text;
}

/// Puts keys behind the last one of a section.
void insert_after(std::vector<Field>& fields, const std::string& section,
                  const std::vector<Field>& own) {
  const auto last = std::find_if(fields.rbegin(), fields.rend(), [&](const Field& field) {
    return field.path.starts_with(section);
  });
  fields.insert(last.base(), own.begin(), own.end());
}

/// Where an algorithm's keys stand: by its name, or by that of its kind.
std::string section_of(const std::vector<Field>& own, const std::string& algo) {
  return own.empty() ? algo : own.front().path.substr(0, own.front().path.find('.'));
}

}  // namespace

std::unique_ptr<NetworkFactory> Catalog::network(const std::string& name) const {
  return find_entry(networks, "net.kind", name).make_factory();
}

std::unique_ptr<LearnerFactory> Catalog::algorithm(const std::string& name) const {
  return find_entry(algorithms, "algo", name).make_factory();
}

RunPlan::RunPlan(const Settings& settings, const Catalog& catalog)
    : settings_(settings),
      catalog_(catalog),
      env_(catalog.env(chosen(settings, "env.id", config_.env.id))),
      network_(catalog.network(chosen(settings, "net.kind", config_.net.kind))),
      algorithm_(catalog.algorithm(chosen(settings, "algo", config_.algo))),
      fields_(fields_of(config_)) {
  insert_after(fields_, "env.", env_->fields());
  insert_after(fields_, "net.", network_->fields());
  const std::vector<Field> own = algorithm_->fields();
  insert_after(fields_, "normalise.", own);
  const std::string section = section_of(own, chosen(settings, "algo", config_.algo));
  penstock::apply(fields_, detail::with_keys_named(settings, fields_, section));
  algorithm_->check();
  resolve_auto();
}

RunPlan::~RunPlan() = default;

std::shared_ptr<const RunPlan> RunPlan::with(const std::string& path, const std::string& text,
                                             const std::string& origin) const {
  Settings settings = settings_;
  settings.add(path, text, origin);
  return std::make_shared<RunPlan>(settings, catalog_);
}

std::int64_t RunPlan::horizon() const {
  return config_.rollout.steps * algorithm_->rollouts_per_update();
}
std::int64_t RunPlan::samples_per_update() const { return horizon() * config_.env.num_envs; }
std::int64_t RunPlan::max_updates() const {
  return (config_.total_timesteps + samples_per_update() - 1) / samples_per_update();
}

bool RunPlan::knows_updates() const {
  return config_.total_seconds == 0 && (config_.total_episodes == 0 || epochs());
}

std::string RunPlan::updates_text() const {
  const bool endless = config_.total_timesteps >= kEndless;
  std::string text = endless ? "updates" : fmt::format("{} updates", max_updates());
  if (!knows_updates() && !endless) { text = "at most " + text; }
  if (config_.total_seconds > 0) { text += fmt::format(" for {:g} s", config_.total_seconds); }
  return text;
}

/// Puts numbers where the config leaves them to the env and to each other.
void RunPlan::resolve_auto() {
  const bool by_episodes = config_.total_episodes > 0;
  const bool by_updates = config_.total_timesteps == 0 && !by_episodes && config_.total_updates > 0;
  const bool by_time = config_.total_seconds > 0 && origin_of("total_timesteps") == "default";
  if (by_time) { config_.total_timesteps = kEndless; }
  if (config_.rollout.steps > 0 && !by_episodes && !by_updates) { return; }
  const std::int64_t longest = env_->spec().max_episode_steps;
  if (config_.rollout.steps == 0) {
    if (longest == 0) {
      throw ConfigError(fmt::format(
          "rollout.steps = auto: episodes of {} have no longest length; give a number, as in "
          "--set rollout.steps=64",
          config_.env.id));
    }
    config_.rollout.steps = longest;
  }
  if (by_updates) { config_.total_timesteps = config_.total_updates * samples_per_update(); }
  if (by_episodes) { bound_by_episodes(longest); }
}

/// Every env ends an episode within `longest` steps, so the episodes are a bound of the steps too.
void RunPlan::bound_by_episodes(std::int64_t longest) {
  if (longest == 0) {
    if (config_.total_timesteps == 0) {
      throw ConfigError(fmt::format(
          "total_timesteps = 0: episodes of {} have no longest length, so total_episodes alone "
          "does not bound the run; add --total-timesteps",
          config_.env.id));
    }
    return;
  }
  const std::int64_t envs = config_.env.num_envs;
  const std::int64_t rounds = (config_.total_episodes + envs - 1) / envs;
  const std::int64_t enough =
      rounds > kEndless / (longest * envs) ? kEndless : rounds * longest * envs;
  const bool bounded = config_.total_timesteps > 0;
  config_.total_timesteps = bounded ? std::min(config_.total_timesteps, enough) : enough;
}

std::string RunPlan::origin_of(std::string_view path) const {
  return std::ranges::find(fields_, path, &Field::path)->origin;
}

std::optional<Epochs> RunPlan::epochs() const {
  if (config_.total_episodes == 0) { return std::nullopt; }
  if (config_.rollout.steps != env_->spec().max_episode_steps) { return std::nullopt; }
  return Epochs{.whole = config_.total_episodes / config_.env.num_envs,
                .remainder = config_.total_episodes % config_.env.num_envs};
}

std::string RunPlan::run_dir() const {
  if (!config_.run.dir.empty()) { return config_.run.dir; }
  return fmt::format("runs/{}-{}", config_.env.id, config_.seed);
}

MemoryEstimate RunPlan::memory() const {
  const EnvSpec spec = env_->spec();
  const std::int64_t features = spec.obs.size();
  const std::int64_t mask = spec.action.masked() ? spec.action.num_actions() : 0;
  const std::int64_t dims = spec.action.dims();
  const std::int64_t action = dims * (spec.action.continuous() ? 4 : 8);
  const std::int64_t row = features * 4 + mask + action + 6 * 4 + 8 + 2;
  const std::unique_ptr<Network> network = network_->make(spec, 0);
  std::int64_t weights = 0;
  for (const auto& [name, tensor] : network->parameters()) { weights += tensor.numel() * 4; }
  const std::int64_t minibatch = algorithm_->minibatch(samples_per_update());
  const std::int64_t part = minibatch / std::min(config_.rollout.shards, config_.env.num_envs) + 1;
  const std::int64_t piece = std::min(part, rows_per_piece(*network));
  // An open lag is tried out with 1.
  const std::int64_t lag = algorithm_->leaves_lag_open() ? 1 : algorithm_->async().max_lag;
  return {.rollout = (lag + 1) * (horizon() + 1) * config_.env.num_envs * row,
          .weights = weights * (1 + lag + config_.rollout.shards),
          .optimiser = 2 * weights,
          // Activations, their gradients and the gathered rows.
          .batches = config_.rollout.shards * piece * (8 * network->floats_per_row() + row)};
}

namespace {

/// Box actions that the policy would hardly reach or mostly overshoot: it starts around 0, give or
/// take 1, and is clipped.
std::string box_warning(const EnvSpec& spec, bool squash) {
  if (!spec.action.continuous() || squash) { return ""; }
  constexpr float kFar = 8;  // times the spread that the policy starts with
  const Box& box = spec.action.box();
  for (std::size_t d = 0; d < box.low.size(); ++d) {
    const float half = (box.high[d] - box.low[d]) / 2;
    const float middle = (box.high[d] + box.low[d]) / 2;
    if (!std::isfinite(half) ||
        (std::abs(middle) <= half / 2 && half <= kFar && half >= 1 / kFar)) {
      continue;
    }
    return fmt::format(
        "action {} lies between {} and {}, and the policy starts around 0, give or take 1: "
        "net.squash = true starts it in the middle and keeps it inside",
        d, box.low[d], box.high[d]);
  }
  return "";
}

}  // namespace

std::vector<std::string> RunPlan::warnings() const {
  const std::int64_t per_update = samples_per_update();
  std::vector<std::string> found = algorithm_->warnings(per_update);
  if (std::string text = box_warning(env_->spec(), config_.net.squash); !text.empty()) {
    found.push_back(std::move(text));
  }
  constexpr std::int64_t kFewUpdates = 20;
  constexpr std::int64_t kFewEpochs = 15;
  const std::int64_t updates = max_updates();
  const bool by_episodes = config_.total_episodes > 0;
  const std::int64_t each = config_.total_episodes / config_.env.num_envs;
  if (by_episodes && each < kFewEpochs) {
    found.push_back(
        fmt::format("{} episodes in {} envs are only {} {}: episodes must grow with envs, use "
                    "--episodes {} for {} {}",
                    config_.total_episodes, config_.env.num_envs, each,
                    epochs() ? "whole epochs" : "of each env", kFewEpochs * config_.env.num_envs,
                    kFewEpochs, epochs() ? "epochs" : "of each"));
  } else if (!by_episodes && config_.total_timesteps > 0 && updates < kFewUpdates) {
    found.push_back(fmt::format(
        "only {} updates fit into {} steps with {} envs: use --total-timesteps "
        "{} or fewer rollout.steps",
        updates, config_.total_timesteps, config_.env.num_envs, kFewUpdates * per_update));
  }
  if (config_.threads > config_.rollout.shards) {
    found.push_back(fmt::format("threads = {}: {} of them will idle, rollout.shards is {}",
                                config_.threads, config_.threads - config_.rollout.shards,
                                config_.rollout.shards));
  }
  return found;
}

}  // namespace penstock
