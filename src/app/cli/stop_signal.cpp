#include "app/cli/stop_signal.h"

#include <unistd.h>
#include <csignal>

namespace penstock::cli {
namespace {

std::atomic<bool> stop_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch nothing else");

extern "C" void on_signal(int signal) {
  if (stop_asked.exchange(true)) { _exit(128 + signal); }
}

}  // namespace

const std::atomic<bool>& stop_on_signal() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return stop_asked;
}

}  // namespace penstock::cli
