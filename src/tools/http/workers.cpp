#include "tools/http/workers.h"

#include <utility>

namespace penstock::http {

Workers::Workers(std::size_t threads, std::size_t max_waiting) : max_waiting_(max_waiting) {
  threads_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { work(); });
  }
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) { thread.join(); }
}

bool Workers::try_add(Job job) {
  {
    const std::lock_guard lock(mutex_);
    // A thread that is free but not yet awake takes one of them at once.
    const std::size_t free = threads_.size() - running_;
    if (waiting_.size() >= max_waiting_ + free) { return false; }
    waiting_.push_back(std::move(job));
  }
  changed_.notify_one();
  return true;
}

std::size_t Workers::num_waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

std::size_t Workers::num_running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

void Workers::drop_waiting() {
  std::deque<Job> dropped;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  dropped.swap(waiting_);
}

void Workers::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopped_ || !waiting_.empty(); });
    if (stopped_) { return; }
    Job job = std::move(waiting_.front());
    waiting_.pop_front();
    ++running_;
    lock.unlock();
    job();
    job = nullptr;  // what it holds goes before it counts as done
    lock.lock();
    --running_;
  }
}

}  // namespace penstock::http
