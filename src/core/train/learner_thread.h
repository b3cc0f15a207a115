#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "penstock/core/algo/learner.h"

namespace penstock {

/// What came of an update.
struct Learnt {
  Metrics metrics;
  std::vector<SkippedMinibatch> skipped;
  std::shared_ptr<const PolicyModel> model;  // the version that it made
  std::exception_ptr failure;                // then there is no model
};

/// A learner on a thread of its own: full fragments go in, versions come out, in their order.
///
///     LearnerThread aside([&](Fragment& full, double progress) { return learn(full, progress); });
///     aside.give(fragment, 0.5);
///     ... sample the next one ...
///     const Learnt learnt = aside.take();
///
/// One caller. What it was given must stay and is the learner's until it was taken; the learner
/// itself may be looked at after settle().
class LearnerThread {
 public:
  using Learn = std::function<Learnt(Fragment&, double progress)>;

  explicit LearnerThread(Learn learn);
  /// The update in work is finished, those that wait are not begun.
  ~LearnerThread();
  LearnerThread(const LearnerThread&) = delete;
  LearnerThread& operator=(const LearnerThread&) = delete;

  void give(Fragment& fragment, double progress);
  /// The next update's, of those not yet taken; waits for it. After a failure nothing more is
  /// learnt, and every call returns that failure.
  [[nodiscard]] Learnt take();
  /// Given and not yet taken.
  [[nodiscard]] std::size_t num_pending() const { return num_pending_; }

  /// Waits until all that was given is learnt. Throws what an update threw.
  void settle();
  /// What was learnt and not yet taken, oldest first; after settle().
  [[nodiscard]] const std::deque<Learnt>& ready() const { return ready_; }
  /// As if it had just been learnt, for a run that is resumed.
  void put(Learnt learnt);

  /// Seconds that the learner has waited for fragments.
  [[nodiscard]] double waited_s() const;

 private:
  struct Job {
    Fragment* fragment;
    double progress;
  };
  void work();

  Learn learn_;
  std::size_t num_pending_ = 0;  // the caller's
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::deque<Learnt> ready_;
  bool busy_ = false;
  bool failed_ = false;  // the last of ready_
  bool stop_ = false;
  double waited_s_ = 0;
  std::thread thread_;  // the last one: it uses all of the above
};

}  // namespace penstock
