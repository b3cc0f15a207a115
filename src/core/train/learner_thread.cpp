#include "core/train/learner_thread.h"

#include <utility>

#include "penstock/core/base/stopwatch.h"

namespace penstock {

LearnerThread::LearnerThread(Learn learn) : learn_(std::move(learn)), thread_([this] { work(); }) {}

LearnerThread::~LearnerThread() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void LearnerThread::give(Fragment& fragment, double progress) {
  {
    const std::scoped_lock lock(mutex_);
    jobs_.push_back({&fragment, progress});
  }
  ++num_pending_;
  changed_.notify_all();
}

Learnt LearnerThread::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !ready_.empty(); });
  if (failed_ && ready_.size() == 1) { return ready_.front(); }
  Learnt learnt = std::move(ready_.front());
  ready_.pop_front();
  --num_pending_;
  return learnt;
}

void LearnerThread::settle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return failed_ || (jobs_.empty() && !busy_); });
  if (failed_) { std::rethrow_exception(ready_.back().failure); }
}

void LearnerThread::put(Learnt learnt) {
  const std::scoped_lock lock(mutex_);
  ready_.push_back(std::move(learnt));
  ++num_pending_;
}

double LearnerThread::waited_s() const {
  const std::scoped_lock lock(mutex_);
  return waited_s_;
}

void LearnerThread::work() {
  std::unique_lock lock(mutex_);
  while (!failed_) {
    const Stopwatch idle;
    changed_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
    waited_s_ += idle.seconds();
    if (stop_) { return; }
    const Job job = jobs_.front();
    jobs_.pop_front();
    busy_ = true;
    lock.unlock();
    Learnt learnt = learn_(*job.fragment, job.progress);
    lock.lock();
    busy_ = false;
    failed_ = learnt.failure != nullptr;
    ready_.push_back(std::move(learnt));
    changed_.notify_all();
  }
}

}  // namespace penstock
