#include "penstock/core/base/thread_pool.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "penstock/core/base/errors.h"
#include "support/sanitized.h"

#ifdef __linux__
#include <sys/resource.h>
#endif

using penstock::ThreadPool;

TEST_CASE("every task runs exactly once, whatever the sizes") {
  for (const std::size_t threads : {0, 1, 2, 3, 8}) {
    ThreadPool pool({.num_threads = threads});
    CHECK(pool.size() == std::max<std::size_t>(threads, 1));
    for (const std::size_t tasks : {0, 1, 2, 7, 64}) {
      CAPTURE(threads);
      CAPTURE(tasks);
      std::vector<int> runs(tasks, 0);
      pool.run(tasks, [&](std::size_t i) { ++runs[i]; });
      CHECK(runs == std::vector<int>(tasks, 1));
    }
  }
}

TEST_CASE("task i runs on member i % size, the caller being member 0") {
  constexpr std::size_t kThreads = 3;
  constexpr std::size_t kTasks = 10;
  ThreadPool pool({.num_threads = kThreads});
  std::vector<std::thread::id> first(kThreads);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread::id> ids(kTasks);
    pool.run(kTasks, [&](std::size_t i) { ids[i] = std::this_thread::get_id(); });
    if (round == 0) { first.assign(ids.begin(), ids.begin() + kThreads); }
    for (std::size_t i = 0; i < kTasks; ++i) { CHECK(ids[i] == first[i % kThreads]); }
  }
  CHECK(first[0] == std::this_thread::get_id());
  CHECK(std::set(first.begin(), first.end()).size() == kThreads);
}

TEST_CASE("the exception of the lowest task is the one rethrown, and the rest still run") {
  ThreadPool pool({.num_threads = 4});
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> ran{0};
    const auto task = [&](std::size_t i) {
      ++ran;
      if (i == 2) {  // the lowest failure is the latest
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
      if (i >= 2) { throw std::runtime_error("task " + std::to_string(i)); }
    };
    CHECK_THROWS_WITH_AS(pool.run(16, task), "task 2", std::runtime_error);
    CHECK(ran == 16);
  }
  int after = 0;
  pool.run(1, [&](std::size_t) { ++after; });
  CHECK(after == 1);
}

TEST_CASE("many short rounds neither hang nor lose what members wrote") {
  ThreadPool pool({.num_threads = 4});
  std::vector<std::size_t> sums(4, 0);  // each written by one member, read by the caller
  constexpr std::size_t kRounds = 5000;
  for (std::size_t round = 0; round < kRounds; ++round) {
    pool.run(4, [&](std::size_t i) { sums[i] += i; });
    REQUIRE(sums[3] == 3 * (round + 1));
  }
  CHECK(sums == std::vector<std::size_t>{0, kRounds, 2 * kRounds, 3 * kRounds});
}

TEST_CASE("members that went to sleep are woken, by work and by destruction") {
  ThreadPool pool({.num_threads = 3});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::atomic<int> ran{0};
  pool.run(3, [&](std::size_t) { ++ran; });
  CHECK(ran == 3);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

TEST_CASE("a pool that never ran is destroyed at once") {
  for (int i = 0; i < 50; ++i) { ThreadPool pool({.num_threads = 3}); }
}

TEST_CASE("on_start runs once on every member before its first task") {
  static thread_local int started = 0;
  started = 0;
  std::atomic<int> starts{0};
  {
    ThreadPool pool({.num_threads = 3, .on_start = [&] {
                       ++started;
                       ++starts;
                     }});
    std::vector<int> seen(6);
    pool.run(6, [&](std::size_t i) { seen[i] = started; });
    CHECK(seen == std::vector<int>(6, 1));
  }
  CHECK(starts == 3);
}

TEST_CASE("pinning to cores changes nothing but the place") {
  ThreadPool pool({.num_threads = 5, .pin = true});
  std::atomic<int> ran{0};
  pool.run(20, [&](std::size_t) { ++ran; });
  CHECK(ran == 20);
}

TEST_CASE("there is at least one core to use") { CHECK(penstock::available_cores() >= 1); }

#if defined(__linux__) && !defined(PENSTOCK_SANITIZED)
TEST_CASE("a system that gives too few threads is an error, not the end of the process") {
  rlimit old{};
  REQUIRE(getrlimit(RLIMIT_AS, &old) == 0);
  const rlimit tight{.rlim_cur = std::size_t{1} << 30, .rlim_max = old.rlim_max};
  REQUIRE(setrlimit(RLIMIT_AS, &tight) == 0);  // each thread wants 8 MB of stack
  CHECK_THROWS_AS(ThreadPool({.num_threads = 4096}), penstock::IoError);
  REQUIRE(setrlimit(RLIMIT_AS, &old) == 0);
}
#endif

TEST_CASE("a pool uses as many members as it is told, from one run to the next") {
  ThreadPool pool({.num_threads = 4});
  for (int round = 0; round < 2000; ++round) {
    const std::size_t used = static_cast<std::size_t>(round * 7 % 4) + 1;
    pool.use(used);
    CHECK(pool.num_used() == used);
    std::vector<std::thread::id> ids(8);
    pool.run(ids.size(), [&](std::size_t i) { ids[i] = std::this_thread::get_id(); });
    CHECK(std::set(ids.begin(), ids.end()).size() == used);
    for (std::size_t i = 0; i < ids.size(); ++i) { CHECK(ids[i] == ids[i % used]); }
  }
}
