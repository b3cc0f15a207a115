#pragma once
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

namespace penstock::detail {

/// Sleeps while the word holds `seen`, at most so long. May wake for no reason.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, double seconds) {
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(seconds);
  limit.tv_nsec = static_cast<long>((seconds - limit.tv_sec) * 1e9);
  ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

/// Wakes everybody who sleeps on the word.
inline void futex_wake(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace penstock::detail
