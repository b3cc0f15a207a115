#include "envs/python/ipc.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/stopwatch.h"
#include "penstock/core/base/text.h"

namespace penstock::detail {
namespace {

[[noreturn]] void refuse(const std::string& what, int error = errno) {
  throw IoError(fmt::format("env workers: {}: {}", what, system_text(error)));
}

constexpr int kFirst = 3;  // after stdin, stdout and stderr

/// The descriptors to hand over, moved out of the way of the numbers that they will get.
std::vector<Descriptor> lifted(const std::vector<int>& descriptors) {
  std::vector<Descriptor> copies;
  for (const int fd : descriptors) {
    const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, kFirst + static_cast<int>(descriptors.size()));
    if (copy < 0) { refuse("fcntl"); }
    copies.emplace_back(copy);
  }
  return copies;
}

/// The actions and attributes of posix_spawn, which must be destroyed.
struct SpawnPlan {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    // The terminal is the parent's: who reads from it in a group of its own is stopped.
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    // stdout belongs to the parent's result: what an env prints goes to stderr.
    ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    sigset_t none{};
    sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
};

}  // namespace

Descriptor::~Descriptor() { close(); }

void Descriptor::close() {
  if (fd_ >= 0) { ::close(std::exchange(fd_, -1)); }
}

Pair make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) { refuse("pipe"); }
  return {Descriptor(ends[1]), Descriptor(ends[0])};
}

Pair make_socket() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    refuse("socketpair");
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Descriptor memory_with(const std::string& text) {
  Descriptor memory(::memfd_create("penstock-payload", MFD_CLOEXEC));
  if (memory.get() < 0) { refuse("memfd_create"); }
  if (::pwrite(memory.get(), text.data(), text.size(), 0) != std::ssize(text)) { refuse("pwrite"); }
  return memory;
}

Process spawn_python(const std::string& python, const std::vector<std::string>& words,
                     const std::vector<int>& descriptors) {
  SpawnPlan plan;
  const std::vector<Descriptor> sources = lifted(descriptors);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    ::posix_spawn_file_actions_adddup2(&plan.actions, sources[i].get(),
                                       kFirst + static_cast<int>(i));
  }
  // -P: a numpy.py in the current folder is not what the worker means by numpy.
  std::vector<std::string> arguments = {python, "-P", "-m", "penstock_worker"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) { argv.push_back(argument.data()); }
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int error =
      ::posix_spawnp(&pid, python.c_str(), &plan.actions, &plan.attributes, argv.data(), environ);
  if (error != 0) {
    throw ConfigError(
        fmt::format("env.python = {}: {}; name the interpreter that has penstock and "
                    "your env: --set env.python=PATH",
                    python, system_text(error)));
  }
  const int pidfd = ::syscall(SYS_pidfd_open, pid, 0);
  if (pidfd < 0) {
    const int why = errno;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    refuse("pidfd_open", why);
  }
  return {pid, pidfd};
}

bool readable_within(int fd, double seconds) {
  const Stopwatch watch;
  pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
  while (true) {
    const double left = std::max(0.0, seconds - watch.seconds());
    const int found = ::poll(&one, 1, static_cast<int>(left * 1e3));
    if (found >= 0 || errno != EINTR) { return found > 0; }
  }
}

namespace {

bool readable_or_asked(int fd, double seconds, const std::function<void()>& meanwhile) {
  constexpr double kSliceS = 0.1;
  if (!meanwhile) { return readable_within(fd, seconds); }
  const Stopwatch watch;
  do {
    if (readable_within(fd, kSliceS)) { return true; }
    meanwhile();
  } while (watch.seconds() < seconds);
  return false;
}

}  // namespace

void send_line(int socket, const std::string& line, int descriptor) {
  std::string text = line + "\n";
  iovec data{.iov_base = text.data(), .iov_len = text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &descriptor, sizeof(int));
  }
  if (::sendmsg(socket, &message, MSG_NOSIGNAL) != std::ssize(text)) {
    refuse("the server of workers is gone");
  }
}

std::string receive_line(int socket, double seconds, Descriptor* descriptor,
                         const std::function<void()>& meanwhile) {
  std::string text;
  while (text.empty() || text.back() != '\n') {
    if (!readable_or_asked(socket, seconds, meanwhile)) {
      refuse("the server of workers is silent", ETIMEDOUT);
    }
    std::array<char, 4096> buffer{};
    iovec data{.iov_base = buffer.data(), .iov_len = buffer.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (size < 0 && errno == EINTR) { continue; }
    if (size <= 0) { refuse("the server of workers is gone", EPIPE); }
    if ((message.msg_flags & MSG_CTRUNC) != 0) { refuse("receive a descriptor", EMFILE); }
    text.append(buffer.data(), size);
    const cmsghdr* head = CMSG_FIRSTHDR(&message);
    if (head != nullptr && head->cmsg_type == SCM_RIGHTS) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(head), sizeof(int));
      Descriptor received(fd);
      if (descriptor != nullptr) { *descriptor = std::move(received); }
    }
  }
  text.pop_back();
  return text;
}

}  // namespace penstock::detail
