#include "core/train/tuner.h"

#include <algorithm>

namespace penstock {
namespace {

constexpr std::size_t kRounds = 3;
constexpr double kClearly = 1.05;  // times faster, to be worth it
constexpr double kLookAgainS = 60.0;
constexpr double kIdle = 0.5;  // busy less than this: more threads may help
// Short iterations are timed together, after one that wakes the threads: else each pays for it.
constexpr double kSpellS = 0.05;
constexpr int kSpellMost = 16;  // of them, so that a choice comes after a known number

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

Tuner::Tuner(std::vector<std::size_t> candidates, std::vector<std::size_t> reserve)
    : candidates_(std::move(candidates)),
      reserve_(std::move(reserve)),
      chosen_(candidates_.size() < 2 && reserve_.empty()) {
  start_trial();
}

void Tuner::start_trial() {
  trials_.assign(candidates_.size(), {});
  current_ = 0;
  spell_ = {};
}

bool Tuner::record(double seconds, double busy) {
  if (!warm_) {
    warm_ = true;
    return false;
  }
  if (chosen_) {
    since_choice_s_ += seconds;
    if (since_choice_s_ > kLookAgainS && candidates_.size() > 1) {
      chosen_ = false;
      start_trial();
    }
    return false;
  }
  if (in_spell(seconds)) { return false; }
  trials_[current_].push_back(spell_.seconds / spell_.count);
  spell_ = {};
  busy_of_last_ = busy;
  current_ = (current_ + 1) % candidates_.size();
  if (current_ != 0 || trials_[0].size() < kRounds) { return false; }
  return choose();
}

/// Counts the iteration; whether more of them are to follow.
bool Tuner::in_spell(double seconds) {
  if (!spell_.begun && seconds < kSpellS) {
    spell_.begun = true;
    return true;
  }
  spell_.seconds += seconds;
  ++spell_.count;
  return spell_.seconds < kSpellS && spell_.count < kSpellMost;
}

bool Tuner::choose() {
  medians_.clear();
  for (const std::vector<double>& trial : trials_) { medians_.push_back(median(trial)); }
  for (std::size_t i = 1; i < medians_.size(); ++i) {
    if (medians_[i] * kClearly < medians_[current_]) { current_ = i; }
  }
  if (current_ + 1 == candidates_.size() && busy_of_last_ < kIdle && !reserve_.empty()) {
    candidates_.insert(candidates_.end(), reserve_.begin(), reserve_.end());
    reserve_.clear();
    start_trial();
    return false;
  }
  chosen_ = true;
  since_choice_s_ = 0;
  return true;
}

}  // namespace penstock
