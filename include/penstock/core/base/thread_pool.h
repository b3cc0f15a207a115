#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace penstock {

/// A fixed team of threads; the caller is one of them. Task i always runs on member i % num_used(),
/// so a shard's memory stays in one core's cache. Not reentrant: one run() at a time, from one
/// thread.
///
///     ThreadPool pool({.num_threads = 4});
///     pool.run(shards.count(), [&](std::size_t s) { step(s); });
class ThreadPool {
 public:
  struct Options {
    std::size_t num_threads = 1;  // the caller included; 0 counts as 1
    bool pin = false;             // bind member i to the i-th allowed core
    std::function<void()> on_start =
        {};  // runs first on every member, the caller included; must not throw
  };

  /// Throws IoError when the system does not give that many threads.
  explicit ThreadPool(const Options& options);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Threads, the caller included.
  [[nodiscard]] std::size_t size() const { return members_.size() + 1; }

  /// From the next run() on, only the first `count` members work (1 to size()); the others sleep.
  /// Out of range it is clamped. Not while run() is at work.
  void use(std::size_t count);
  [[nodiscard]] std::size_t num_used() const { return used_.load(std::memory_order_relaxed); }

  /// Calls task(0) ... task(num_tasks - 1) and waits for all. When tasks throw, the exception of
  /// the lowest task is rethrown here, so that the message does not depend on timing.
  /// The other tasks run all the same. What tasks wrote is visible after the call. With one task or
  /// one member in use everything happens on the caller.
  void run(std::size_t num_tasks, const std::function<void(std::size_t)>& task);

 private:
  void work(std::size_t member);
  void run_share(std::size_t member, std::size_t num_members);
  [[nodiscard]] std::uint64_t sleep_until_used(std::size_t member) const;
  void stop();

  int spins_;  // how long to poll before sleeping
  std::vector<std::thread> members_;
  const std::function<void(std::size_t)>* task_ = nullptr;
  std::size_t num_tasks_ = 0;
  std::vector<std::exception_ptr> failures_;  // [num_tasks]
  // Bumped to start a run; the low bits hold how many members it is for, so that one read tells a
  // member both.
  std::atomic<std::uint64_t> round_{0};
  std::atomic<std::size_t> used_{1};
  std::atomic<std::uint64_t> round_at_use_{0};  // round_ when use() was called last
  std::atomic<std::size_t> pending_{0};         // members still working
  std::atomic<bool> stop_{false};
};

/// The cores this process may use: affinity mask and cgroup quota, at least one.
/// A quota of a part of a core counts as a whole one.
std::size_t available_cores();

}  // namespace penstock
