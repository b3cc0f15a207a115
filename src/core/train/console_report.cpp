#include "core/train/console_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "penstock/core/rollout/shards.h"

namespace penstock::detail {
namespace {

/// Groups of metrics that the update's own line tells of, or that are for files only.
constexpr std::string_view kOwnGroups[] = {"train", "rollout", "time", "perf", "eval"};

std::string in_words(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string group_of(const std::string& metric) { return metric.substr(0, metric.find('/')); }

std::string name_of(const std::string& metric) {
  return in_words(metric.substr(metric.find('/') + 1));
}

/// "env dvrptw: customers 30, obs hist", of the keys that someone set.
std::string env_line(const RunPlan& plan) {
  std::vector<std::string> given;
  for (const Field& field : plan.fields()) {
    const bool own = field.path.starts_with("env.") && field.path != "env.id" &&
                     field.path != "env.num_envs" && field.origin != "default";
    if (!own) { continue; }
    std::string value = value_text(field);
    std::erase(value, '"');
    given.push_back(in_words(field.path.substr(4)) + " " + value);
  }
  return fmt::format("env {}{}{}", plan.config().env.id, given.empty() ? "" : ": ",
                     fmt::join(given, ", "));
}

std::string episodes_line(const RunConfig& config, const Epochs& epochs) {
  const std::int64_t envs = config.env.num_envs;
  if (epochs.remainder == 0) {
    return fmt::format("{} episodes: {} epochs of {}", config.total_episodes, epochs.whole, envs);
  }
  return fmt::format(
      "{} episodes: {} epochs of {} and a remainder of {}; the last epoch plays the remainder in "
      "all {} envs, {} episodes in all",
      config.total_episodes, epochs.whole, envs, epochs.remainder, envs, epochs.count() * envs);
}

void add_episodes(const UpdateLines& update, std::vector<std::string>& words) {
  if (update.episodes.empty()) { return; }
  Moments reward;
  Moments length;
  for (const EpisodeEnd& end : update.episodes) {
    reward.add(end.total_reward);
    length.add(end.length);
  }
  words.push_back(fmt::format("reward {:.2f}", reward.mean));
  words.push_back(fmt::format("length {:.4g}", length.mean));
  for (std::size_t i = 0; i < update.stats.size(); ++i) {
    Moments stat;
    for (const EpisodeEnd& end : update.episodes) { stat.add(end.stats[i]); }
    words.push_back(fmt::format("{} {:.5g}", in_words(update.stats[i]), stat.mean));
  }
}

void add_losses(const Metrics& metrics, std::vector<std::string>& words) {
  for (const auto& [name, value] : metrics) {
    if (name == "rollout/ep_rew_mean") {
      words.push_back(fmt::format("mean of 100 {:.2f}", value));
    } else if (name == "train/policy_gradient_loss") {
      words.push_back(fmt::format("policy loss {:.4g}", value));
    } else if (name == "train/value_loss") {
      words.push_back(fmt::format("value loss {:.4g}", value));
    } else if (name == "train/entropy_loss") {
      words.push_back(fmt::format("entropy {:.4f}", -value));
    } else if (group_of(name) == "env") {
      words.push_back(fmt::format("{} {:.4g}", name_of(name), value));
    }
  }
}

}  // namespace

std::vector<std::string> header_lines(const RunPlan& plan, const std::string& run_dir) {
  const RunConfig& config = plan.config();
  std::vector<std::string> lines = {env_line(plan)};
  lines.push_back(fmt::format("{} envs x {} steps = {} samples per update, {}, device {}",
                              config.env.num_envs, plan.horizon(), plan.samples_per_update(),
                              plan.updates_text(), config.device));
  if (const std::optional<Epochs> epochs = plan.epochs()) {
    lines.push_back(episodes_line(config, *epochs));
  }
  for (std::string& note : plan.env().notes(config.env.num_envs)) {
    lines.push_back(std::move(note));
  }
  lines.push_back("run directory " + run_dir);
  return lines;
}

std::vector<std::string> update_lines(const UpdateLines& update) {
  std::vector<std::string> words = {fmt::format("epoch {}", update.number)};
  if (update.last > 0) { words.back() += fmt::format("/{}", update.last); }
  add_episodes(update, words);
  add_losses(update.metrics, words);
  words.push_back(fmt::format("episodes {}", update.total_episodes));
  words.push_back(fmt::format("steps {}", update.timesteps));
  std::vector<std::string> lines = {fmt::format("{}", fmt::join(words, "  "))};

  std::string open;  // the group whose line is the last one
  for (const auto& [name, value] : update.metrics) {
    const std::string group = group_of(name);
    if (group == "env" || std::ranges::find(kOwnGroups, group) != std::end(kOwnGroups)) {
      continue;
    }
    if (group != open) { lines.push_back("  " + in_words(group) + ":"); }
    lines.back() += fmt::format("{}{} {:.4g}", group == open ? ", " : " ", name_of(name), value);
    open = group;
  }
  return lines;
}

}  // namespace penstock::detail
