#include "penstock/core/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/train/budget.h"
#include "core/train/checkpoint_tensors.h"
#include "core/train/crew.h"
#include "core/train/saver.h"
#include "penstock/core/base/errors.h"

namespace penstock {
namespace {

constexpr double kSegmentSeconds = 0.1;  // how long a stop may go unnoticed while sampling
constexpr double kLongestSegment = 1;    // of several processes on a slow network
constexpr double kShareOfMessages = 0.2;
constexpr const char* kMeanReward = "eval/mean_reward";

}  // namespace

Trainer::Trainer(const RunPlan& plan, RunDir& dir, RunListener listener, Peers& peers,
                 Carrier* carrier)
    : plan_(plan),
      dir_(dir),
      listener_(std::move(listener)),
      engine_(plan, peers, carrier),
      crew_(std::make_unique<detail::Crew>(plan, engine_, peers)),
      num_ranks_(peers.size()),
      saver_(std::make_unique<detail::Saver>(plan_, dir_, engine_, *crew_, listener_)) {
  state_.next_eval = plan.config().run.eval_interval;
}

Trainer::~Trainer() = default;

void Trainer::resume() {
  const Checkpoint checkpoint = dir_.checkpoints().load_latest(listener_.note);
  crew_->restore(checkpoint);
  state_ = detail::read_run_state(checkpoint);
  saver_->resumed(state_.best_score);
  // A run at its end is evaluated once more.
  dir_.rewind(engine_.timesteps(), done() ? kMeanReward : "");
  listener_.note(fmt::format("resumed at step {}", engine_.timesteps()));
}

void Trainer::start_from(const Checkpoint& checkpoint) { crew_->start_from(checkpoint); }

Summary Trainer::run(const std::atomic<bool>& stop) {
  since_start_ = Stopwatch();
  started_at_ = spent();
  cpu_before_s_ = engine_.cpu_used_s();
  print_header();
  if (!saver_->has_saved()) { save(); }  // from the first moment on there is something to resume
  try {
    train(stop);
  } catch (...) {
    // Of several processes one has failed by itself: the others' states are where they were.
    saver_->save_last([this] { return moment(); }, engine_.whole() && num_ranks_ == 1);
    engine_.rest();  // nothing goes on once this has returned
    throw;
  }
  return finish(stop);
}

/// What is done and saved counts, also when the evaluation is stopped.
Summary Trainer::finish(const std::atomic<bool>& stop) {
  saver_->save_surely([this] { return moment(); },
                      [&] {
                        listener_.progress(progress());
                        (void)crew_->stops(stop);  // the others know that this process is there
                      });

  Summary told = summary();
  if (!told.preempted && episodes_end()) {
    told.preempted = !evaluate_now(&stop);
    if (!told.preempted) { told.eval = state_.last_eval; }
  }
  finish_log();
  return told;
}

void Trainer::train(const std::atomic<bool>& stop) {
  bool stopped = false;
  while (!done() && !ended_ && !stopped) {
    stopped = !gather(stop);
    if (engine_.steps_left() == 0) { learn(); }
    if (!stopped && !done()) {
      saver_->begin_if_due([this] { return moment(); });
    }
  }
  if (stopped && !done()) { return; }
  // All that was sampled is learnt from.
  while (engine_.num_behind() > 0) {
    tell(timed([this] { return engine_.catch_up(); }));
  }
}

void Trainer::save() {
  saver_->save_now([this] { return moment(); });
}

/// What is saved beside the engine.
detail::RunState Trainer::moment() const {
  detail::RunState state = state_;
  state.seconds = spent().seconds;
  state.score = score();
  return state;
}

bool Trainer::done() const {
  const RunConfig& config = plan_.config();
  const bool whole = engine_.steps_left() == plan_.horizon();
  return whole && (detail::Budget(config).used_up(spent()) ||
                   (state_.window.size() == detail::kWindow &&
                    state_.mean_reward() >= config.run.stop_at_reward));
}

detail::Spent Trainer::spent() const {
  return {.timesteps = engine_.timesteps(),
          .episodes = state_.episodes,
          .seconds = state_.seconds + since_start_.seconds()};
}

/// Samples in segments short enough to notice a stop; where they end changes nothing. False when
/// one was noticed.
bool Trainer::gather(const std::atomic<bool>& stop) {
  while (engine_.steps_left() > 0) {
    if (crew_->stops(stop)) { return false; }
    const double steps = seconds_per_step_ > 0 ? segment_s_ / seconds_per_step_ : 1;
    const auto segment =
        static_cast<std::int64_t>(std::clamp<double>(steps, 1, engine_.steps_left()));
    const Stopwatch watch;
    double stepping = 0;
    try {
      const detail::Mishaps mishaps = crew_->sample(segment);
      stepping = mishaps.seconds;
      report(mishaps);
    } catch (...) {
      report({engine_.source().take_discarded(), engine_.source().take_incidents()});
      throw;
    }
    const double spent = watch.seconds();
    seconds_per_step_ = stepping / segment;
    // The longer the others' messages take, the more is done between them.
    segment_s_ =
        std::clamp((spent - stepping) / kShareOfMessages, kSegmentSeconds, kLongestSegment);
    sample_s_ += spent;
    saver_->poll();
    listener_.progress(progress());
  }
  return true;
}

void Trainer::learn() {
  const double done_before =
      detail::Budget(plan_.config()).share({.timesteps = 0, .episodes = state_.episodes});
  const std::vector<EpisodeEnd> ends = crew_->take_episodes();
  count(ends);
  ended_ = listener_.enough(progress(), ends);
  if (ended_) { return; }
  tell(timed([&] { return crew_->update(done_before); }));
  note_tuning();
  evaluate_if_due();
  listener_.progress(progress());
}

/// Logs an update; with async.max_lag the first rollouts have none to tell of.
void Trainer::tell(Metrics metrics) {
  if (metrics.empty() || engine_.num_updates() % plan_.config().run.log_interval != 0) { return; }
  crew_->compare_weights();
  log(std::move(metrics));
}

Metrics Trainer::timed(const std::function<Metrics()>& update) {
  const Stopwatch watch;
  Metrics metrics;
  try {
    metrics = update();
  } catch (...) {
    report_skipped();
    throw;
  }
  report_skipped();
  last_update_s_ = watch.seconds();
  learn_s_ += last_update_s_;
  const SampleTime time = engine_.source().take_time();
  sample_time_.env += time.env;
  sample_time_.infer += time.infer;
  sample_time_.copy += time.copy;
  return metrics;
}

void Trainer::evaluate_if_due() {
  const std::int64_t interval = plan_.config().run.eval_interval;
  if (interval == 0 || engine_.timesteps() < state_.next_eval || done()) { return; }
  // To its end: a resumed run would not make up for it.
  if (episodes_end()) { evaluate_now(nullptr); }
  state_.next_eval = engine_.timesteps() + interval;
}

void Trainer::count(const std::vector<EpisodeEnd>& ends) {
  for (const EpisodeEnd& end : ends) {
    ++state_.episodes;
    state_.window.push_back(end);
    if (plan_.config().run.print_updates) { since_log_.push_back(end); }
    if (state_.window.size() > detail::kWindow) { state_.window.pop_front(); }
  }
}

/// A file to reproduce each failure from, and a line that names it.
void Trainer::report(const detail::Mishaps& mishaps) {
  state_.discarded += mishaps.discarded;
  for (const Incident& incident : mishaps.incidents) {
    ++num_incidents_;
    std::string where;
    const std::string name = "replay/" + incident.replay_name;
    if (!incident.replay.empty() && write_aside([&] { dir_.write(name, incident.replay); })) {
      where = fmt::format("; reproduce it with: penstock replay {}/{}{}{}", dir_.path(), name,
                          incident.replay_options.empty() ? "" : " ", incident.replay_options);
    }
    listener_.note("warning: " + incident.message + where);
  }
}

/// A file with the rows of each minibatch that was not finite, and a line that names it.
void Trainer::report_skipped() {
  for (const SkippedMinibatch& skipped : engine_.take_skipped()) {
    std::vector<TensorView> views;
    for (const auto& [name, tensor] : skipped.tensors) {
      views.push_back(detail::view_of(name, tensor));
    }
    const std::string file = skipped.file();
    const bool there = write_aside([&] { dir_.write_tensors(file, views); });
    listener_.note(fmt::format(
        "warning: update {}: minibatch {} was skipped, as its loss or gradient is not finite{}",
        skipped.update, skipped.minibatch,
        there ? fmt::format("; its rows are in {}/{}", dir_.path(), file) : ""));
  }
}

/// Of a file that training can do without; false, and a note, where the disk refuses it.
bool Trainer::write_aside(const std::function<void()>& write) const {
  try {
    write();
    return true;
  } catch (const IoError& error) {
    listener_.note(fmt::format("warning: {}", error.what()));
    return false;
  }
}

/// Whether an evaluation would end: an env that has no longest episode and ended none in training
/// is not trusted.
bool Trainer::episodes_end() const {
  const RunSection& run = plan_.config().run;
  if (run.eval_episodes == 0) { return false; }
  if (state_.episodes > 0 || engine_.envs().spec().max_episode_steps > 0) { return true; }
  listener_.note(
      "no evaluation: no episode has ended so far; if none ever does, wrap the env in a time limit "
      "(gymnasium.wrappers.TimeLimit), else train longer or use `penstock eval`");
  return false;
}

/// False where it was stopped.
bool Trainer::evaluate_now(const std::atomic<bool>* stop) {
  const RunSection& run = plan_.config().run;
  const EvalResult result = summarise(crew_->play(detail::eval_options(plan_, stop)),
                                      engine_.envs().spec(), run.eval_max_steps);
  if (result.episodes == 0) { return false; }
  state_.last_eval = result;
  if (result.cut_off > 0) {
    listener_.note(
        fmt::format("warning: {} of {} episodes of the evaluation were cut off after {} steps "
                    "(run.eval_max_steps)",
                    result.cut_off, result.episodes, run.eval_max_steps));
  }
  Metrics metrics = {{kMeanReward, result.mean_reward},
                     {"eval/mean_ep_length", result.mean_ep_length}};
  for (const auto& [name, mean] : result.stats) { metrics.emplace_back("eval/" + name, mean); }
  write_log(metrics);
  listener_.logged(progress(), metrics);
  return true;
}

/// Evaluation where the run has it, else the running mean: what "best" means.
double Trainer::score() const {
  const bool evaluated = plan_.config().run.eval_interval > 0 && state_.last_eval.episodes > 0;
  const double mean = evaluated ? state_.last_eval.mean_reward : progress().ep_rew_mean;
  return std::isnan(mean) ? -std::numeric_limits<double>::infinity() : mean;
}

}  // namespace penstock
