#include "penstock/core/base/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/text.h"
#include "penstock/core/base/text_file.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to us

namespace penstock {
namespace {

/// A child whose standard output we read. It ends with this object.
class Child {
 public:
  Child(const std::vector<std::string>& words, const std::string& option) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) { throw IoError("pipe: " + system_text(errno)); }
    output_ = ends[0];
    const int error = spawn(words, ends[1]);
    ::close(ends[1]);
    if (error != 0) {
      ::close(output_);
      throw UsageError(option + " " + words.front() + ": " + system_text(error));
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::close(output_);
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      wait();
    }
  }

  /// What there is, at most a buffer full; nothing at its end.
  std::string read() {
    std::array<char, 4096> buffer{};
    ssize_t count = 0;
    do {
      count = ::read(output_, buffer.data(), buffer.size());
    } while (count < 0 && errno == EINTR);
    return {buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
  }

  /// Its exit code, once it has ended.
  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {}
    pid_ = 0;
    constexpr int kSignals = 128;  // as shells count them
    return WIFEXITED(status) ? WEXITSTATUS(status) : kSignals + WTERMSIG(status);
  }

 private:
  int spawn(const std::vector<std::string>& words, int output) {
    std::vector<char*> arguments;
    for (const std::string& word : words) {
      arguments.push_back(const_cast<char*>(word.c_str()));  // posix_spawn does not write to them
    }
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions{};
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    const int error =
        ::posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) { pid_ = 0; }
    return error;
  }

  pid_t pid_ = 0;
  int output_ = -1;
};

}  // namespace

int run_program(const std::vector<std::string>& words, const std::string& option,
                const std::function<void(const std::string&)>& tell) {
  Child child(words, option);
  std::string pending;
  for (std::string more = child.read(); !more.empty(); more = child.read()) {
    pending += more;
    std::size_t begin = 0;
    for (std::size_t end = pending.find('\n'); end != std::string::npos;
         end = pending.find('\n', begin)) {
      tell(pending.substr(begin, end - begin));
      begin = end + 1;
    }
    pending.erase(0, begin);
  }
  if (!pending.empty()) { tell(pending); }
  return child.wait();
}

std::vector<std::string> own_program(std::string_view verb) {
  const std::string line = read_text("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = line.find('\0', begin);
    const std::string word = line.substr(begin, end - begin);
    if (word == verb && !words.empty()) { break; }
    words.push_back(word);
    begin = end + 1;
  }
  if (words.size() == 1) { words[0] = std::filesystem::read_symlink("/proc/self/exe"); }
  return words;
}

}  // namespace penstock
