#include "penstock/envs/python/launcher.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>

#include "envs/python/ipc.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/json.h"

namespace penstock {
namespace {

using detail::Descriptor;
using Json = nlohmann::json;

constexpr double kAnswerS = 20;     // to fork, or to say how a process ended
constexpr double kDescribeS = 300;  // to import and make an env for the first time

/// Waits for a child of ours that has ended.
std::string reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) { return "ended"; }
  }
  return status_text(status);
}

/// Workers end when nobody holds `ours` any more: with this process, however it ends.
class Lifeline {
 public:
  Lifeline() : ends_(detail::make_pipe()) {}
  [[nodiscard]] int get() const { return ends_.theirs.get(); }
  [[nodiscard]] int held() const { return ends_.ours.get(); }

 private:
  detail::Pair ends_;
};

class SpawnLauncher final : public Launcher {
 public:
  explicit SpawnLauncher(WorkerCommand command)
      : command_(std::move(command)), payload_(detail::memory_with(command_.payload)) {}

  std::string describe() override {
    detail::Pair socket = detail::make_socket();
    const Process process = detail::spawn_python(
        command_.python, {"describe"}, {payload_.get(), lifeline_.get(), socket.theirs.get()});
    socket.theirs.close();
    try {
      std::string answer = detail::receive_line(socket.ours.get(), kDescribeS, nullptr);
      reap(process.pid());
      return answer;
    } catch (const IoError&) {
      process.kill();
      return to_text(Json{{"error", no_answer(command_.python, reap(process.pid()))}});
    }
  }

  Process start(const SharedRows& rows, std::size_t worker) override {
    return detail::spawn_python(command_.python, {"work", std::to_string(worker)},
                                {payload_.get(), lifeline_.get(), rows.fd()});
  }

  std::string end_of(const Process& process) override { return reap(process.pid()); }

  static std::string no_answer(const std::string& python, const std::string& end) {
    return fmt::format(
        "`{} -m penstock_worker` {} before it could make an env; install penstock there, or name "
        "another interpreter: --set env.python=PATH",
        python, end);
  }

 private:
  WorkerCommand command_;
  Descriptor payload_;
  Lifeline lifeline_;
};

class ServerLauncher final : public Launcher {
 public:
  ServerLauncher(WorkerCommand command, ServerStart start)
      : command_(std::move(command)),
        payload_(detail::memory_with(command_.payload)),
        start_(std::move(start)) {}

  ~ServerLauncher() override {
    socket_.close();  // the server ends when it sees this
    if (server_.pid() > 0 && !server_.ended_within(1)) { server_.kill(); }
    if (server_.pid() > 0) { reap(server_.pid()); }
  }

  std::string describe() override {
    const std::scoped_lock lock(mutex_);
    try {
      return ask({{"op", "describe"}}, -1, kDescribeS, nullptr);
    } catch (const IoError&) {
      server_.kill();
      return to_text(
          Json{{"error", SpawnLauncher::no_answer(command_.python, reap(server_.pid()))}});
    }
  }

  Process start(const SharedRows& rows, std::size_t worker) override {
    const std::scoped_lock lock(mutex_);
    const Json request = {{"op", "start"}, {"worker", worker}};
    Descriptor pidfd;
    std::string answer;
    try {
      answer = ask(request, rows.fd(), kAnswerS, &pidfd);
    } catch (const IoError&) {
      // The server itself was killed: once more with a new one.
      server_.kill();
      answer = ask(request, rows.fd(), kAnswerS, &pidfd);
    }
    const Json told = try_parse_json(answer);
    if (!told.is_object() || !told.value("pid", Json()).is_number_integer() || pidfd.get() < 0) {
      throw IoError(
          fmt::format("env workers: the server of workers started none and answered: {}", answer));
    }
    const int fd = ::dup(pidfd.get());
    if (fd < 0) { throw IoError(fmt::format("env workers: dup: {}", std::strerror(errno))); }
    return {told.at("pid").get<pid_t>(), fd};
  }

  std::string end_of(const Process& process) override {
    const std::scoped_lock lock(mutex_);
    try {
      const Json request = {{"op", "status"}, {"pid", process.pid()}};
      const Json answer = parse_json(ask(request, -1, kAnswerS, nullptr));
      if (answer.at("status").is_number()) { return status_text(answer["status"]); }
    } catch (const std::exception&) {  // the server is not the same: nobody knows
    }
    return "ended";
  }

 private:
  std::string ask(const Json& request, int descriptor, double seconds, Descriptor* answered) {
    if (!server_.running()) { start_server(); }
    detail::send_line(socket_.get(), to_text(request), descriptor);
    return detail::receive_line(socket_.get(), seconds, answered);
  }

  void start_server() {
    if (server_.pid() > 0) { reap(server_.pid()); }
    detail::Pair socket = detail::make_socket();
    server_ = start_ ? start_(socket.theirs.get(), lifeline_.get(), lifeline_.held())
                     : detail::spawn_python(command_.python, {"serve"},
                                            {payload_.get(), lifeline_.get(), socket.theirs.get()});
    socket_ = std::move(socket.ours);
  }

  WorkerCommand command_;
  Descriptor payload_;
  ServerStart start_;
  Lifeline lifeline_;
  std::mutex mutex_;
  Process server_;
  Descriptor socket_;
};

}  // namespace

std::unique_ptr<Launcher> make_spawn_launcher(WorkerCommand command) {
  return std::make_unique<SpawnLauncher>(std::move(command));
}

std::unique_ptr<Launcher> make_server_launcher(WorkerCommand command, ServerStart start) {
  return std::make_unique<ServerLauncher>(std::move(command), std::move(start));
}

}  // namespace penstock
