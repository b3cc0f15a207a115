#pragma once
#include <sys/types.h>

#include <string>

namespace penstock {

/// Another process, held by a descriptor, so that its number cannot come to mean someone else.
class Process {
 public:
  Process() = default;
  /// Takes the descriptor over.
  Process(pid_t pid, int pidfd) : pid_(pid), fd_(pidfd) {}
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool running() const;
  /// Waits for its end, at most so long; whether it has ended.
  [[nodiscard]] bool ended_within(double seconds) const;
  void send(int signal) const;
  void kill() const;

 private:
  pid_t pid_ = -1;
  int fd_ = -1;
};

/// "killed by signal 9 (Killed)" or "ended with code 3", from a status of waitpid.
std::string status_text(int status);

}  // namespace penstock
