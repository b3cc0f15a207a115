#include "app/fleet/processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/text.h"

namespace penstock::fleet::detail {
namespace {

constexpr int kNotStarted = 127;

std::vector<char*> arguments_of(std::vector<std::string>& words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) { arguments.push_back(word.data()); }
  arguments.push_back(nullptr);
  return arguments;
}

/// Between fork and exec: nothing that allocates or locks.
[[noreturn]] void become(char* const* arguments, int out, int err) {
  const int in = open("/dev/null", O_RDONLY);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  execvp(arguments[0], arguments);
  _exit(kNotStarted);
}

std::string lock_of(const std::string& folder) { return folder + "/fleet.pid"; }

}  // namespace

pid_t start(std::vector<std::string> words, int core, const std::string& log) {
  const std::vector<char*> arguments = arguments_of(words);
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (out < 0) { throw IoError(fmt::format("cannot write {}: {}", log, system_text(errno))); }
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) { _exit(kNotStarted); }  // it was gone before the line above
    setpgid(0, 0);                                    // Ctrl-C is the fleet's to hand on
    sched_setaffinity(0, sizeof(set), &set);
    become(arguments.data(), out, out);
  }
  const int error = errno;
  close(out);
  if (child < 0) { throw IoError(fmt::format("cannot start a trial: {}", system_text(error))); }
  return child;
}

std::optional<End> end_of(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, WNOHANG) != child) { return std::nullopt; }
  if (WIFSIGNALED(status)) { return End{.signal = WTERMSIG(status)}; }
  return End{.exit = WEXITSTATUS(status)};
}

Answer ask(std::vector<std::string> words) {
  const std::vector<char*> arguments = arguments_of(words);
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) < 0) {
    throw IoError(fmt::format("cannot start {}: {}", words[0], system_text(errno)));
  }
  const pid_t child = fork();
  if (child == 0) { become(arguments.data(), pipe_ends[1], pipe_ends[1]); }
  close(pipe_ends[1]);
  Answer answer;
  std::array<char, 4096> chunk{};
  for (;;) {
    const ssize_t count = read(pipe_ends[0], chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) { continue; }
    if (count <= 0) { break; }
    answer.text.append(chunk.data(), count);
  }
  close(pipe_ends[0]);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  answer.exit = child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : kNotStarted;
  return answer;
}

std::vector<int> own_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &set)) { cores.push_back(core); }
    }
  }
  return cores;
}

Claim::Claim(const std::string& folder)
    : file_(open(lock_of(folder).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644)) {
  if (file_ < 0 || flock(file_, LOCK_EX | LOCK_NB) < 0) {
    const std::string why = file_ >= 0 && errno == EWOULDBLOCK
                                ? "another process runs this fleet; --status tells how it does"
                                : system_text(errno);
    if (file_ >= 0) { close(file_); }
    throw IoError(fmt::format("{}: {}", folder, why), Exit::cannot_create);
  }
  const std::string pid = fmt::format("{}\n", getpid());
  if (ftruncate(file_, 0) < 0 || write(file_, pid.data(), pid.size()) < 0) {
    throw IoError(fmt::format("{}: {}", lock_of(folder), system_text(errno)));
  }
}

Claim::~Claim() { close(file_); }

std::optional<pid_t> Claim::holder(const std::string& folder) {
  const int file = open(lock_of(folder).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) { return std::nullopt; }
  std::optional<pid_t> found;
  if (flock(file, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
    std::array<char, 32> text{};
    const ssize_t count = read(file, text.data(), text.size());
    pid_t pid = 0;
    if (count > 0 && std::from_chars(text.data(), text.data() + count, pid).ec == std::errc()) {
      found = pid;
    }
  }
  close(file);
  return found;
}

}  // namespace penstock::fleet::detail
