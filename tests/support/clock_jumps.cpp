// A clock on the wall that jumps at every look: five hours ahead, a day back, and so on. To be
// loaded before others (LD_PRELOAD). The clock that only counts on is left alone.
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

namespace {

constexpr time_t kHour = 3600;

time_t jump() {
  static std::atomic<unsigned> looks{0};
  return looks.fetch_add(1) % 2 == 0 ? 5 * kHour : -24 * kHour;
}

int read_clock(clockid_t clock, timespec* now) {
  return static_cast<int>(::syscall(SYS_clock_gettime, clock, now));
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const int result = read_clock(clock, now);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) { now->tv_sec += jump(); }
  return result;
}

int gettimeofday(timeval* now, void* /*zone*/) noexcept {
  timespec precise{};
  const int result = read_clock(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec + jump();
  now->tv_usec = precise.tv_nsec / 1000;
  return result;
}

time_t time(time_t* also) noexcept {
  timespec precise{};
  read_clock(CLOCK_REALTIME, &precise);
  const time_t now = precise.tv_sec + jump();
  if (also != nullptr) { *also = now; }
  return now;
}
}
