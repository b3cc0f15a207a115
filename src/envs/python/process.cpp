#include "penstock/envs/python/process.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <utility>

#include "envs/python/ipc.h"

namespace penstock {

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), fd_(std::exchange(other.fd_, -1)) {}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(fd_, other.fd_);
  return *this;
}

Process::~Process() {
  if (fd_ >= 0) { ::close(fd_); }
}

bool Process::running() const { return fd_ >= 0 && !ended_within(0); }

bool Process::ended_within(double seconds) const {
  if (fd_ < 0) { return true; }
  return detail::readable_within(fd_, seconds);
}

void Process::send(int signal) const {
  if (fd_ >= 0) { ::syscall(SYS_pidfd_send_signal, fd_, signal, nullptr, 0); }
}

void Process::kill() const { send(SIGKILL); }

std::string status_text(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace penstock
