#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/train/budget.h"
#include "core/train/console_report.h"
#include "core/train/saver.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/train/trainer.h"

// What a trainer tells: lines of metrics, progress, the summary.

namespace penstock {

void Trainer::note_tuning() {
  const Engine::Tuning tuning = engine_.tuning();
  if (tuning.choices == tunings_noted_) { return; }
  tunings_noted_ = tuning.choices;
  listener_.note("auto: " + tuning.measurement);
}

void Trainer::log(Metrics metrics) {
  const Progress now = progress();
  const double updates = engine_.num_updates();
  add_rollout(metrics, now);
  if (SharedLearner* shared = engine_.envs().shared()) {
    for (auto& metric : shared->take_metrics()) { metrics.push_back(std::move(metric)); }
  }
  metrics.emplace_back("time/fps", now.fps);
  metrics.emplace_back("time/iterations", updates);
  metrics.emplace_back("time/time_elapsed", now.elapsed_s);
  metrics.emplace_back("time/update_s", last_update_s_);
  metrics.emplace_back("time/total_timesteps", now.timesteps);
  metrics.emplace_back("train/n_updates", updates);
  if (state_.discarded > 0 || num_incidents_ > 0) {
    metrics.emplace_back("rollout/discarded_episodes", state_.discarded);
    metrics.emplace_back("rollout/incidents", num_incidents_);
  }
  const Metrics shares = perf();
  metrics.insert(metrics.end(), shares.begin(), shares.end());
  write_log(metrics);
  if (plan_.config().run.print_updates) { print_update(metrics); }
  listener_.logged(now, metrics);
}

void Trainer::add_rollout(Metrics& metrics, const Progress& now) const {
  Moments success;
  for (const EpisodeEnd& end : state_.window) {
    if (end.success != Success::unknown) { success.add(end.success == Success::yes ? 1 : 0); }
  }
  if (!state_.window.empty()) {
    metrics.emplace_back("rollout/ep_rew_mean", now.ep_rew_mean);
    metrics.emplace_back("rollout/ep_len_mean", now.ep_len_mean);
  }
  if (success.count > 0) { metrics.emplace_back("rollout/success_rate", success.mean); }
  log_stats(metrics);
}

/// A disk that refuses lines is no reason to end: they are kept and tried again.
void Trainer::write_log(const Metrics& metrics) {
  dir_.log(engine_.timesteps(), metrics);
  const RunDir::LogState log = dir_.log_state();
  if (log.error.empty() == log_works_) { return; }
  log_works_ = log.error.empty();
  listener_.note(
      log_works_ ? fmt::format("the metrics are written again; {} lines of them are lost", log.lost)
                 : fmt::format("warning: cannot write metrics: {}; their lines are kept "
                               "and tried again with each new one",
                               log.error));
}

void Trainer::finish_log() {
  dir_.flush_log();
  const RunDir::LogState log = dir_.log_state();
  if (log.waiting > 0) {
    listener_.note(fmt::format("warning: {} lines of metrics could not be written: {}",
                               log.waiting + log.lost, log.error));
  }
}

void Trainer::print_header() const {
  for (const std::string& line : detail::header_lines(plan_, dir_.path())) { listener_.line(line); }
}

void Trainer::print_update(const Metrics& metrics) {
  const std::int64_t number = engine_.num_updates();
  for (const std::string& line :
       detail::update_lines({.number = number,
       .last = plan_.knows_updates() ? std::max(number, plan_.max_updates()) : 0,
       .timesteps = engine_.timesteps(),
       .total_episodes = state_.episodes,
       .episodes = since_log_,
       .stats = engine_.envs().spec().stats,
       .metrics = metrics})) {
    listener_.line(line);
  }
  since_log_.clear();
}

/// The means of what the env itself tells of its episodes.
void Trainer::log_stats(Metrics& metrics) const {
  const std::vector<std::string>& names = engine_.envs().spec().stats;
  for (std::size_t i = 0; i < names.size() && !state_.window.empty(); ++i) {
    Moments stat;
    for (const EpisodeEnd& end : state_.window) { stat.add(end.stats[i]); }
    metrics.emplace_back("rollout/" + names[i], stat.mean);
  }
}

Progress Trainer::progress() const {
  Progress now;
  now.timesteps = engine_.timesteps();
  now.total_timesteps = plan_.knows_updates() ? plan_.config().total_timesteps : 0;
  now.episodes = state_.episodes;
  now.elapsed_s = since_start_.seconds();
  now.fps = (now.timesteps - started_at_.timesteps) / std::max(1e-9, now.elapsed_s);
  const detail::Budget budget(plan_.config());
  now.done = budget.shown(spent());
  now.left_s = budget.seconds_left(started_at_, spent());
  now.ep_rew_mean = state_.mean_reward();
  now.ep_len_mean = state_.mean_length();
  return now;
}

/// How the wall clock splits; sampling's share is divided as its threads spent it. Of a learner
/// beside the sampler, learn_frac is what the sampler has waited for.
Metrics Trainer::perf() const {
  const double total = std::max(1e-9, sample_s_ + learn_s_);
  const double threads = std::max(1e-9, sample_time_.env + sample_time_.infer + sample_time_.copy);
  const double share = sample_s_ / total / threads;
  Metrics shares = {{"perf/env_frac", sample_time_.env * share},
                    {"perf/infer_frac", sample_time_.infer * share},
                    {"perf/copy_frac", sample_time_.copy * share},
                    {"perf/learn_frac", learn_s_ / total},
                    {"perf/threads", static_cast<double>(engine_.tuning().threads)},
                    {"perf/cpu_util", cpu_util()},
                    {"perf/save_pause_s", saver_->longest_pause_s()}};
  if (const auto idle_s = engine_.learner_idle_s()) {
    shares.emplace_back("perf/learner_idle_frac", *idle_s / std::max(1e-9, since_start_.seconds()));
  }
  return shares;
}

/// The share of the cores that this sitting has kept busy, workers included.
double Trainer::cpu_util() const {
  const double used = engine_.cpu_used_s() - cpu_before_s_;
  return std::max(0.0, used) / (std::max(1e-9, since_start_.seconds()) * available_cores());
}

Summary Trainer::summary() const {
  Summary summary;
  summary.digest = engine_.digest();
  summary.total_timesteps = engine_.timesteps();
  summary.updates = engine_.num_updates();
  summary.episodes = state_.episodes;
  summary.discarded = state_.discarded;
  summary.incidents = num_incidents_;
  summary.preempted = !done() && !ended_;
  summary.time_elapsed = since_start_.seconds();
  summary.fps = progress().fps;
  summary.ranks = num_ranks_;
  summary.perf = perf();
  return summary;
}

std::string Summary::line() const {
  Json out = {{"digest", digest},       {"total_timesteps", total_timesteps},
              {"updates", updates},     {"episodes", episodes},
              {"discarded", discarded}, {"incidents", incidents},
              {"preempted", preempted}, {"time", {{"fps", fps}, {"time_elapsed", time_elapsed}}},
              {"ranks", ranks}};
  if (eval.episodes > 0) {
    out["eval"] = {{"mean_reward", eval.mean_reward},
                   {"std_reward", eval.std_reward},
                   {"mean_ep_length", eval.mean_ep_length},
                   {"episodes", eval.episodes}};
  }
  for (const auto& [name, value] : perf) { out["perf"][name.substr(name.find('/') + 1)] = value; }
  return to_text(out);
}

}  // namespace penstock
