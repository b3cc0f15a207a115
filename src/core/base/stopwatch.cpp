#include "penstock/core/base/stopwatch.h"

#include <ctime>

namespace penstock {
namespace {

double read(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) { return 0; }
  constexpr double kNanosecond = 1e-9;
  return static_cast<double>(time.tv_sec) + kNanosecond * static_cast<double>(time.tv_nsec);
}

}  // namespace

double cpu_seconds() { return read(CLOCK_PROCESS_CPUTIME_ID); }

double cpu_seconds_of(pid_t process) {
  clockid_t clock = 0;
  return clock_getcpuclockid(process, &clock) == 0 ? read(clock) : 0;
}

}  // namespace penstock
