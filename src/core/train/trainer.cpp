#include "penstock/core/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/train/budget.h"
#include "core/train/console_report.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/json.h"

namespace penstock {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kWindow = 100;     // episodes in the running means
constexpr double kSegmentSeconds = 0.1;  // how long a stop may go unnoticed while sampling

Json finite_or_null(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }
double number_or_nan(const Json& x) { return x.is_null() ? std::nan("") : x.get<double>(); }

}  // namespace

Trainer::Trainer(const RunPlan& plan, RunDir& dir, RunListener listener)
    : plan_(plan),
      dir_(dir),
      listener_(std::move(listener)),
      engine_(plan),
      best_score_(-std::numeric_limits<double>::infinity()),
      next_eval_(plan.config().run.eval_interval) {}

void Trainer::resume() {
  const Checkpoint checkpoint = dir_.checkpoints().load_latest(listener_.note);
  try {
    engine_.restore(checkpoint);
    const Json run = parse_json(checkpoint.state).at("run");
    num_episodes_ = run.at("episodes");
    num_discarded_ = run.value("discarded", std::int64_t{0});
    next_eval_ = run.at("next_eval");
    seconds_before_ = run.value("seconds", 0.0);
    if (!run.at("best_score").is_null()) { best_score_ = run.at("best_score"); }
    if (run.contains("last_eval")) {  // what score() asks; earlier versions did not keep it
      const Json& eval = run.at("last_eval");
      last_eval_.episodes = eval.at("episodes");
      last_eval_.mean_reward = number_or_nan(eval.at("mean_reward"));
    }
    for (const Json& end : run.at("window")) {
      window_.push_back({end.at(0), end.at(1), static_cast<Success>(end.at(2).get<int>())});
      if (end.size() > 3) { window_.back().stats = end.at(3); }
    }
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("checkpoint {}: state.json: {}", checkpoint.step, error.what()));
  }
  last_save_at_ = engine_.timesteps();
  last_save_update_ = engine_.num_updates();
  dir_.rewind(engine_.timesteps());
  listener_.note(fmt::format("resumed at step {}", engine_.timesteps()));
}

Summary Trainer::run(const std::atomic<bool>& stop) {
  since_start_ = since_save_ = Stopwatch();
  started_at_ = spent();
  cpu_before_s_ = engine_.cpu_used_s();
  print_header();
  if (last_save_at_ < 0) { save(); }  // from the first moment on there is something to resume
  try {
    train(stop);
  } catch (...) {
    save_what_is_whole();
    throw;
  }
  if (last_save_at_ != engine_.timesteps()) { save(); }

  Summary summary;
  summary.preempted = !done() && !ended_;
  summary.time_elapsed = since_start_.seconds();
  summary.fps = progress().fps;
  if (!summary.preempted && episodes_end()) {
    summary.preempted = !evaluate_now(&stop);
    if (!summary.preempted) { summary.eval = last_eval_; }
  }
  summary.digest = engine_.digest();
  summary.total_timesteps = engine_.timesteps();
  summary.updates = engine_.num_updates();
  summary.episodes = num_episodes_;
  summary.discarded = num_discarded_;
  summary.incidents = num_incidents_;
  summary.perf = perf();
  return summary;
}

void Trainer::train(const std::atomic<bool>& stop) {
  while (!done() && !ended_ && !stop) {
    gather(stop);
    if (engine_.steps_left() == 0) { learn(); }
    if (!stop) { save_if_due(); }
  }
}

/// After a failure: nothing is saved of an update that did not end, nor of a disk that is full.
void Trainer::save_what_is_whole() {
  if (!engine_.whole() || last_save_at_ == engine_.timesteps()) { return; }
  try {
    save();
  } catch (const IoError&) {
    // The first failure is the one to tell.
  }
}

bool Trainer::done() const {
  const RunConfig& config = plan_.config();
  const bool whole = engine_.steps_left() == plan_.horizon();
  return whole && (detail::Budget(config).used_up(spent()) ||
                   (window_.size() == kWindow && mean_reward() >= config.run.stop_at_reward));
}

detail::Spent Trainer::spent() const {
  return {.timesteps = engine_.timesteps(),
          .episodes = num_episodes_,
          .seconds = seconds_before_ + since_start_.seconds()};
}

/// Samples in segments short enough to notice a stop; where they end changes nothing.
void Trainer::gather(const std::atomic<bool>& stop) {
  while (engine_.steps_left() > 0 && !stop) {
    const double steps = seconds_per_step_ > 0 ? kSegmentSeconds / seconds_per_step_ : 1;
    const auto segment =
        static_cast<std::int64_t>(std::clamp<double>(steps, 1, engine_.steps_left()));
    const Stopwatch watch;
    try {
      engine_.sample(segment);
    } catch (...) {
      report_incidents();
      throw;
    }
    report_incidents();
    const double spent = watch.seconds();
    seconds_per_step_ = spent / segment;
    sample_s_ += spent;
    listener_.progress(progress());
  }
}

void Trainer::learn() {
  const double done_before =
      detail::Budget(plan_.config()).share({.timesteps = 0, .episodes = num_episodes_});
  const std::vector<EpisodeEnd> ends = count_episodes();
  ended_ = listener_.enough(progress(), ends);
  if (ended_) { return; }
  const Stopwatch watch;
  Metrics metrics = engine_.update(done_before);
  last_update_s_ = watch.seconds();
  learn_s_ += last_update_s_;
  const SampleTime time = engine_.sampler().take_time();
  sample_time_.env += time.env;
  sample_time_.infer += time.infer;
  sample_time_.copy += time.copy;
  note_tuning();
  if (engine_.num_updates() % plan_.config().run.log_interval == 0) { log(std::move(metrics)); }
  if (plan_.config().run.eval_interval > 0 && engine_.timesteps() >= next_eval_ && !done()) {
    if (episodes_end()) {
      evaluate_now(nullptr);
    }  // to its end: a resumed run would not make up for it
    next_eval_ = engine_.timesteps() + plan_.config().run.eval_interval;
  }
  listener_.progress(progress());
}

void Trainer::note_tuning() {
  const Engine::Tuning tuning = engine_.tuning();
  if (tuning.choices == tunings_noted_) { return; }
  tunings_noted_ = tuning.choices;
  listener_.note("auto: " + tuning.measurement);
}

/// Those that ended in the rollout.
std::vector<EpisodeEnd> Trainer::count_episodes() {
  std::vector<EpisodeEnd> ends = engine_.sampler().take_episodes();
  for (const EpisodeEnd& end : ends) {
    ++num_episodes_;
    window_.push_back(end);
    if (plan_.config().run.print_updates) { since_log_.push_back(end); }
    if (window_.size() > kWindow) { window_.pop_front(); }
  }
  return ends;
}

/// A file to reproduce each failure from, and a line that names it.
void Trainer::report_incidents() {
  num_discarded_ += engine_.sampler().take_discarded();
  for (const Incident& incident : engine_.envs().take_incidents()) {
    ++num_incidents_;
    std::string where;
    if (!incident.replay.empty()) {
      const std::string name = "replay/" + incident.replay_name;
      dir_.write(name, incident.replay);
      where = fmt::format("; reproduce it with: penstock replay {}/{}{}{}", dir_.path(), name,
                          incident.replay_options.empty() ? "" : " ", incident.replay_options);
    }
    listener_.note("warning: " + incident.message + where);
  }
}

void Trainer::log(Metrics metrics) {
  const Progress now = progress();
  Moments success;
  for (const EpisodeEnd& end : window_) {
    if (end.success != Success::unknown) { success.add(end.success == Success::yes ? 1 : 0); }
  }
  if (!window_.empty()) {
    metrics.emplace_back("rollout/ep_rew_mean", now.ep_rew_mean);
    metrics.emplace_back("rollout/ep_len_mean", now.ep_len_mean);
  }
  if (success.count > 0) { metrics.emplace_back("rollout/success_rate", success.mean); }
  log_stats(metrics);
  if (SharedLearner* shared = engine_.envs().shared()) {
    for (auto& metric : shared->take_metrics()) { metrics.push_back(std::move(metric)); }
  }
  metrics.emplace_back("time/fps", now.fps);
  metrics.emplace_back("time/iterations", static_cast<double>(engine_.num_updates()));
  metrics.emplace_back("time/time_elapsed", now.elapsed_s);
  metrics.emplace_back("time/update_s", last_update_s_);
  metrics.emplace_back("time/total_timesteps", static_cast<double>(now.timesteps));
  metrics.emplace_back("train/n_updates", static_cast<double>(engine_.num_updates()));
  if (num_discarded_ > 0 || num_incidents_ > 0) {
    metrics.emplace_back("rollout/discarded_episodes", static_cast<double>(num_discarded_));
    metrics.emplace_back("rollout/incidents", static_cast<double>(num_incidents_));
  }
  const Metrics shares = perf();
  metrics.insert(metrics.end(), shares.begin(), shares.end());
  dir_.log(now.timesteps, metrics);
  if (plan_.config().run.print_updates) { print_update(metrics); }
  listener_.logged(now, metrics);
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
       .total_episodes = num_episodes_,
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
  for (std::size_t i = 0; i < names.size() && !window_.empty(); ++i) {
    Moments stat;
    for (const EpisodeEnd& end : window_) { stat.add(end.stats[i]); }
    metrics.emplace_back("rollout/" + names[i], stat.mean);
  }
}

/// Whether an evaluation would end: an env that has no longest episode and ended none in training
/// is not trusted.
bool Trainer::episodes_end() const {
  const RunSection& run = plan_.config().run;
  if (run.eval_episodes == 0) { return false; }
  if (num_episodes_ > 0 || engine_.envs().spec().max_episode_steps > 0) { return true; }
  listener_.note(
      "no evaluation: no episode has ended so far; if none ever does, wrap the env in a time limit "
      "(gymnasium.wrappers.TimeLimit), else train longer or use `penstock eval`");
  return false;
}

/// False where it was stopped.
bool Trainer::evaluate_now(const std::atomic<bool>* stop) {
  const RunSection& run = plan_.config().run;
  const EvalResult result = evaluate(engine_.player(), plan_.env(), engine_.pool(),
                                     {.episodes = run.eval_episodes,
                                      .seed = plan_.config().seed,
                                      .max_steps = run.eval_max_steps,
                                      .stop = stop});
  if (result.episodes == 0) { return false; }
  last_eval_ = result;
  if (result.cut_off > 0) {
    listener_.note(
        fmt::format("warning: {} of {} episodes of the evaluation were cut off after {} steps "
                    "(run.eval_max_steps)",
                    result.cut_off, result.episodes, run.eval_max_steps));
  }
  Metrics metrics = {{"eval/mean_reward", result.mean_reward},
                     {"eval/mean_ep_length", result.mean_ep_length}};
  for (const auto& [name, mean] : result.stats) { metrics.emplace_back("eval/" + name, mean); }
  dir_.log(engine_.timesteps(), metrics);
  listener_.logged(progress(), metrics);
  return true;
}

void Trainer::save_if_due() {
  const RunSection& run = plan_.config().run;
  const std::int64_t since = run.save_unit == "updates" ? engine_.num_updates() - last_save_update_
                                                        : engine_.timesteps() - last_save_at_;
  const bool by_steps = run.save_interval > 0 && since >= run.save_interval;
  const bool by_time = run.save_every_s > 0 && since_save_.seconds() >= run.save_every_s;
  if ((by_steps || by_time) && last_save_at_ != engine_.timesteps()) { save(); }
}

/// Evaluation where the run has it, else the running mean: what "best" means.
double Trainer::score() const {
  const bool evaluated = plan_.config().run.eval_interval > 0 && last_eval_.episodes > 0;
  const double mean = evaluated ? last_eval_.mean_reward : progress().ep_rew_mean;
  return std::isnan(mean) ? -std::numeric_limits<double>::infinity() : mean;
}

void Trainer::save() {
  const bool best = score() > best_score_;
  if (best) { best_score_ = score(); }
  const auto snapshot = engine_.snapshot();
  Json window = Json::array();
  for (const EpisodeEnd& end : window_) {
    window.push_back({end.total_reward, end.length, static_cast<int>(end.success), end.stats});
  }
  Json run = {{"episodes", num_episodes_},
              {"discarded", num_discarded_},
              {"next_eval", next_eval_},
              {"seconds", spent().seconds},
              {"best_score", finite_or_null(best_score_)},
              {"window", window}};
  if (last_eval_.episodes > 0) {
    run["last_eval"] = {{"episodes", last_eval_.episodes},
                        {"mean_reward", finite_or_null(last_eval_.mean_reward)}};
  }
  snapshot->data.state =
      to_text(Json{{"engine", parse_json(snapshot->data.state)}, {"run", run}}, 1);
  dir_.checkpoints().save(engine_.timesteps(), snapshot->data, best);
  if (last_save_at_ >= 0) {  // not of the beginning
    listener_.line(
        fmt::format("saved ckpt/{}{}", engine_.timesteps(), best ? ", the best so far" : ""));
  }
  since_save_ = Stopwatch();
  last_save_at_ = engine_.timesteps();
  last_save_update_ = engine_.num_updates();
}

Progress Trainer::progress() const {
  Progress now;
  now.timesteps = engine_.timesteps();
  now.total_timesteps = plan_.knows_updates() ? plan_.config().total_timesteps : 0;
  now.episodes = num_episodes_;
  now.elapsed_s = since_start_.seconds();
  now.fps = (now.timesteps - started_at_.timesteps) / std::max(1e-9, now.elapsed_s);
  const detail::Budget budget(plan_.config());
  now.done = budget.shown(spent());
  now.left_s = budget.seconds_left(started_at_, spent());
  now.ep_rew_mean = mean_reward();
  now.ep_len_mean = mean_length();
  return now;
}

double Trainer::mean_reward() const {
  Moments reward;
  for (const EpisodeEnd& end : window_) { reward.add(end.total_reward); }
  return window_.empty() ? std::nan("") : reward.mean;
}

double Trainer::mean_length() const {
  Moments length;
  for (const EpisodeEnd& end : window_) { length.add(end.length); }
  return window_.empty() ? std::nan("") : length.mean;
}

/// How the wall clock splits; sampling's share is divided as its threads spent it.
Metrics Trainer::perf() const {
  const double total = std::max(1e-9, sample_s_ + learn_s_);
  const double threads = std::max(1e-9, sample_time_.env + sample_time_.infer + sample_time_.copy);
  const double share = sample_s_ / total / threads;
  return {{"perf/env_frac", sample_time_.env * share},
          {"perf/infer_frac", sample_time_.infer * share},
          {"perf/copy_frac", sample_time_.copy * share},
          {"perf/learn_frac", learn_s_ / total},
          {"perf/threads", static_cast<double>(engine_.tuning().threads)},
          {"perf/cpu_util", cpu_util()}};
}

/// The share of the cores that this sitting has kept busy, workers included.
double Trainer::cpu_util() const {
  const double used = engine_.cpu_used_s() - cpu_before_s_;
  return std::max(0.0, used) / (std::max(1e-9, since_start_.seconds()) * available_cores());
}

std::string Summary::line() const {
  Json out = {{"digest", digest},       {"total_timesteps", total_timesteps},
              {"updates", updates},     {"episodes", episodes},
              {"discarded", discarded}, {"incidents", incidents},
              {"preempted", preempted}, {"time", {{"fps", fps}, {"time_elapsed", time_elapsed}}}};
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
