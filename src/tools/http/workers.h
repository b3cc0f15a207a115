#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace penstock::http {

/// Threads for work that takes long, and a queue before them that does not grow without bound.
/// All calls are thread-safe. Jobs must not throw.
class Workers {
 public:
  using Job = std::function<void()>;

  Workers(std::size_t threads, std::size_t max_waiting);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  /// Waits for the jobs that run; those that wait are dropped.
  ~Workers();

  /// Does the job as soon as a thread is free; false when too many wait already.
  bool try_add(Job job);
  [[nodiscard]] std::size_t num_waiting() const;
  [[nodiscard]] std::size_t num_running() const;
  /// Jobs that have not begun never will.
  void drop_waiting();

 private:
  void work();

  const std::size_t max_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  std::size_t running_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace penstock::http
