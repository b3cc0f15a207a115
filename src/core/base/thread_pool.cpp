#include "penstock/core/base/thread_pool.h"

#include <algorithm>
#include <cmath>
#include <system_error>
#include <utility>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/limits.h"

#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#endif

namespace penstock {
namespace {

// How long a waiter polls before it sleeps in the kernel: about the cost of one futex round trip.
constexpr int kSpins = 2000;

// round_ = counter << kMemberBits | members of the round.
constexpr int kMemberBits = 16;
constexpr std::uint64_t kMemberMask = (std::uint64_t{1} << kMemberBits) - 1;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Why not a condition variable: every minibatch is three runs, which are short where the network is
// small. A lock and a wake-up for each would cost as much as the work. Polling first lets
// back-to-back runs start without the kernel, and std::atomic::wait sleeps without a lock.
template <class T>
void wait_while_equal(const std::atomic<T>& value, T old, int spins) {
  for (int spin = 0; spin < spins; ++spin) {
    if (value.load(std::memory_order_acquire) != old) { return; }
    relax();
  }
  value.wait(old, std::memory_order_acquire);
}

void pin_to_core([[maybe_unused]] std::size_t member) {
#ifdef __linux__
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) { return; }
  const std::size_t count = CPU_COUNT(&allowed);
  std::size_t skip = member % count;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || skip-- > 0) { continue; }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    return;
  }
#endif
}

}  // namespace

// A member that polls while others wait for its core only delays them.
ThreadPool::ThreadPool(const Options& options)
    : spins_(options.num_threads <= available_cores() ? kSpins : 0) {
  // The caller keeps its own affinity: it is the user's thread and outlives the pool.
  if (options.on_start) { options.on_start(); }
  members_.reserve(options.num_threads);
  try {
    for (std::size_t member = 1; member < options.num_threads; ++member) {
      members_.emplace_back([this, member, pin = options.pin, on_start = options.on_start] {
        if (pin) { pin_to_core(member); }
        if (on_start) { on_start(); }
        work(member);
      });
    }
    used_.store(size());
  } catch (const std::system_error& error) {
    const std::size_t started = size();
    stop();
    throw IoError("the system gave " + std::to_string(started) + " of " +
                  std::to_string(options.num_threads) + " threads: " + error.what());
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  stop_.store(true);
  use(size());  // wakes the sleepers
  round_.fetch_add(std::uint64_t{1} << kMemberBits);
  round_.notify_all();
  for (std::thread& member : members_) { member.join(); }
}

// round_at_use_ is written before used_ is released, so a member that wakes reads the round that
// was over when it was called for. With round_ itself it could take a run that has begun meanwhile
// for one it has already done, and the caller would wait for it for ever.
void ThreadPool::use(std::size_t count) {
  round_at_use_.store(round_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  used_.store(std::clamp<std::size_t>(count, 1, size()), std::memory_order_release);
  used_.notify_all();
}

// One release of round_ publishes all that a run needs: task_, num_tasks_, failures_ and pending_
// are plain or relaxed writes before it, and a member reads them only after it has acquired the new
// round. The number of members travels in the same word, because a member that reads two words
// might see one of this run and one of the next. The way back is pending_: each member's decrement
// releases what its tasks wrote, and the caller acquires it.
void ThreadPool::run(std::size_t num_tasks, const std::function<void(std::size_t)>& task) {
  task_ = &task;
  num_tasks_ = num_tasks;
  failures_.assign(num_tasks, nullptr);
  const std::size_t used = num_used();
  if (used == 1 || num_tasks == 1) {  // waking others would cost more than it brings
    run_share(0, 1);
  } else {
    pending_.store(used - 1, std::memory_order_relaxed);
    const std::uint64_t counter = (round_.load(std::memory_order_relaxed) >> kMemberBits) + 1;
    round_.store(counter << kMemberBits | used, std::memory_order_release);
    round_.notify_all();
    run_share(0, used);
    for (std::size_t left = pending_.load(std::memory_order_acquire); left != 0;
         left = pending_.load(std::memory_order_acquire)) {
      wait_while_equal(pending_, left, spins_);
    }
  }
  const auto failed = std::find_if(failures_.begin(), failures_.end(),
                                   [](const std::exception_ptr& e) { return e != nullptr; });
  if (failed != failures_.end()) { std::rethrow_exception(*failed); }
}

/// The last round that is over. use() is never called during a run, and a run that needs this
/// member cannot end without it: what starts later is seen as new.
std::uint64_t ThreadPool::sleep_until_used(std::size_t member) const {
  for (std::size_t used = used_.load(std::memory_order_acquire); member >= used;
       used = used_.load(std::memory_order_acquire)) {
    used_.wait(used, std::memory_order_acquire);
  }
  return round_at_use_.load(std::memory_order_relaxed);
}

void ThreadPool::work(std::size_t member) {
  std::uint64_t seen = 0;
  while (true) {
    wait_while_equal(round_, seen, spins_);
    if (stop_.load()) { return; }
    const std::uint64_t round = round_.load(std::memory_order_acquire);
    const std::size_t num_members = round & kMemberMask;
    if (member >= num_members) {
      seen = sleep_until_used(member);
      continue;
    }
    seen = round;
    run_share(member, num_members);
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) { pending_.notify_all(); }
  }
}

void ThreadPool::run_share(std::size_t member, std::size_t num_members) {
  for (std::size_t i = member; i < num_tasks_; i += num_members) {
    try {
      (*task_)(i);
    } catch (...) { failures_[i] = std::current_exception(); }
  }
}

std::size_t available_cores() {
  std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
#ifdef __linux__
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) { cores = CPU_COUNT(&allowed); }
  const double quota = std::max(1.0, std::ceil(Limits().cores()));
  if (quota < static_cast<double>(cores)) { cores = static_cast<std::size_t>(quota); }
#endif
  return cores;
}

}  // namespace penstock
