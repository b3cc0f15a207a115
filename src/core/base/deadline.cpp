#include "penstock/core/base/deadline.h"

#include <optional>

namespace penstock {
namespace {

thread_local std::optional<Deadline> of_this_thread;

}  // namespace

Deadline Deadline::in(double seconds) {
  using Clock = std::chrono::steady_clock;
  Deadline deadline;
  deadline.at_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double>(seconds));
  return deadline;
}

DeadlineScope::DeadlineScope(const Deadline& deadline) { of_this_thread = deadline; }
DeadlineScope::~DeadlineScope() { of_this_thread.reset(); }

void check_deadline() {
  if (of_this_thread && of_this_thread->passed()) { throw TooLate(); }
}

}  // namespace penstock
