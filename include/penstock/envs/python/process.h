#pragma once
#include <sys/types.h>

#include <string>

namespace penstock {

/// Another process, held by a descriptor: its number may be reused, the descriptor is not.
/// It owns the descriptor only: neither kills nor waits for the process when it is destroyed.
class Process {
 public:
  /// None: it is not running, and signals to it are lost.
  Process() = default;
  /// Takes the descriptor over.
  Process(pid_t pid, int pidfd) : pid_(pid), fd_(pidfd) {}
  /// Moves the descriptor; the other is then none.
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process();

  /// For messages and waitpid; -1: none.
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool running() const;
  /// Waits for its end, at most so long; whether it has ended.
  [[nodiscard]] bool ended_within(double seconds) const;
  /// Never reaches another process. Failures are not told: the process may have ended just now.
  void send(int signal) const;
  /// SIGKILL. Returns at once, see ended_within().
  void kill() const;

 private:
  pid_t pid_ = -1;
  int fd_ = -1;
};

/// "killed by signal 9 (Killed)" or "ended with exit code 3", from a status of waitpid.
std::string status_text(int status);

}  // namespace penstock
