#include "core/train/saver.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "penstock/core/base/errors.h"
#include "penstock/core/train/run_state.h"

namespace penstock::detail {

double pause_after(std::int64_t failures) {
  constexpr std::int64_t kDoublings = 6;  // 64 s, cut to a minute
  const auto exponent = std::clamp<std::int64_t>(failures - 1, 0, kDoublings);
  return std::min<double>(60, 1 << exponent);
}

Saver::Saver(const RunPlan& plan, RunDir& dir, const Engine& engine, Crew& crew,
             const RunListener& listener)
    : config_(plan.config().run),
      dir_(dir),
      engine_(engine),
      crew_(crew),
      listener_(listener),
      best_score_(-std::numeric_limits<double>::infinity()),
      writer_(dir.checkpoints()) {}

void Saver::resumed(double best_score) {
  best_score_ = best_score;
  taken_at_ = saved_at_ = engine_.timesteps();
  taken_update_ = engine_.num_updates();
  since_taken_ = Stopwatch();
}

void Saver::poll() {
  if (const auto end = writer_.poll()) { settle(*end); }
}

void Saver::begin_if_due(const Take& take) {
  poll();
  if (writer_.busy() || !due()) { return; }
  const Stopwatch pause;
  begin(take);
  longest_pause_s_ = std::max(longest_pause_s_, pause.seconds());
}

void Saver::save_now(const Take& take) {
  if (const auto end = writer_.wait()) { settle(*end); }
  begin(take);
  const auto end = writer_.wait();
  if (end->failure) { std::rethrow_exception(end->failure); }
  succeed();
}

void Saver::save_surely(const Take& take, const std::function<void()>& meanwhile) {
  if (const auto end = writer_.wait()) { settle(*end); }
  while (saved_at_ != engine_.timesteps()) {
    while (failures_ > 0 && since_failure_.seconds() < pause_after(failures_)) {
      meanwhile();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    begin(take);
    settle(*writer_.wait());
  }
}

void Saver::save_last(const Take& take, bool whole) {
  try {
    if (const auto end = writer_.wait(); end && !end->failure) { succeed(); }
    if (!whole || given_up_ || saved_at_ == engine_.timesteps()) { return; }
    begin(take);
    if (!writer_.wait()->failure) { succeed(); }
  } catch (const std::exception&) {
    // As told.
  }
}

/// By steps or by time since the last one was taken; after a failure when its pause is over.
bool Saver::due() const {
  if (failures_ > 0) { return since_failure_.seconds() >= pause_after(failures_); }
  const std::int64_t since = config_.save_unit == "updates" ? engine_.num_updates() - taken_update_
                                                            : engine_.timesteps() - taken_at_;
  const bool by_steps = config_.save_interval > 0 && since >= config_.save_interval;
  const bool by_time = config_.save_every_s > 0 && since_taken_.seconds() >= config_.save_every_s;
  return (by_steps || by_time) && taken_at_ != engine_.timesteps();
}

/// Copies here; all else, also the text of state.json, is the writing thread's.
void Saver::begin(const Take& take) {
  RunState state = take();
  crew_.snapshot(snapshot_);
  is_best_ = state.score > best_score_;
  taken_best_ = state.best_score = std::max(state.score, best_score_);
  taken_at_ = engine_.timesteps();
  taken_update_ = engine_.num_updates();
  since_taken_ = Stopwatch();
  writer_.begin({.step = taken_at_, .best = is_best_, .data = [this, state = std::move(state)] {
                   CheckpointData data = snapshot_.data();
                   data.state = state_text(snapshot_.counters, state);
                   return data;
                 }});
}

void Saver::settle(const CheckpointWriter::End& end) {
  if (end.failure) { return fail(end.failure); }
  succeed();
}

void Saver::succeed() {
  const bool first = !has_saved();
  failures_ = 0;
  given_up_ = false;
  saved_at_ = taken_at_;
  best_score_ = taken_best_;
  if (!first) {
    listener_.line(fmt::format("saved ckpt/{}{}", saved_at_, is_best_ ? ", the best so far" : ""));
  }
}

/// Throws unless another try is worth it.
void Saver::fail(const std::exception_ptr& failure) {
  given_up_ = true;
  try {
    std::rethrow_exception(failure);
  } catch (const IoError& error) {
    ++failures_;
    since_failure_ = Stopwatch();
    if (failures_ >= config_.save_tries) {
      throw IoError(fmt::format(
          "cannot save: {} tries in a row have failed (run.save_tries), the last one: {}; the "
          "newest checkpoint is ckpt/{}. Make room there or make it writable, then: penstock "
          "resume {}",
          failures_, error.what(), saved_at_, dir_.path()));
    }
    given_up_ = false;
    listener_.note(fmt::format("warning: cannot save ckpt/{} (try {} of {}): {}; next try in {} s",
                               taken_at_, failures_, config_.save_tries, error.what(),
                               pause_after(failures_)));
  }
}

}  // namespace penstock::detail
