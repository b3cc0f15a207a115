#include "penstock/envs/python/launcher.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <utility>

#include "envs/python/ipc.h"
#include "envs/python/process_tree.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"

namespace penstock {
namespace {

using detail::Descriptor;

constexpr double kAnswerS = 20;  // to fork, or to say how a process ended
constexpr double kCleanUpS = 5;  // for a server to end what envs have left running

/// For an answer to describe(). A trial holds to its deadlines by itself; what is left is an import
/// that hangs.
double longest(const TrialOptions& options) {
  constexpr double kSlowSteps = 4;
  return 2 * options.start_deadline_s + kSlowSteps * options.step_deadline_s + kAnswerS;
}

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

/// Ends the process with all that it started, and says, as describe() does, why nothing is known.
std::string no_answer(const std::string& python, const Process& process, double waited_s) {
  const bool hangs = !process.ended_within(1);  // its socket closes a moment before it ends
  detail::end_tree(process);
  const std::string end = reap(process.pid());
  const std::string error =
      hangs ? fmt::format(
                  "no answer within {} s; its import hangs, or needs a larger "
                  "env.start_deadline_s",
                  waited_s)
            : fmt::format(
                  "`{} -m penstock_worker` {} before it could make an env; install penstock "
                  "there, or name another interpreter: --set env.python=PATH",
                  python, end);
  return to_text(Json{{"error", error}});
}

class ServerLauncher final : public Launcher {
 public:
  /// `words` are those of penstock_worker, where `start` is empty.
  ServerLauncher(WorkerCommand command, std::vector<std::string> words, ServerStart start)
      : command_(std::move(command)),
        words_(std::move(words)),
        payload_(detail::memory_with(command_.payload)),
        start_(std::move(start)) {}

  ~ServerLauncher() override {
    socket_.close();  // the server ends when it sees this, with all that envs have left running
    if (server_.pid() <= 0 || ::getpid() != owner_) { return; }
    if (!server_.ended_within(kCleanUpS)) { detail::end_tree(server_); }
    reap(server_.pid());
  }

  std::string describe(const TrialOptions& options) override {
    const std::scoped_lock lock(mutex_);
    const Json request = {{"op", "describe"},
                          {"start_deadline_s", options.start_deadline_s},
                          {"step_deadline_s", options.step_deadline_s}};
    ensure_server();
    try {
      return ask(request, -1, longest(options), nullptr, options.meanwhile);
    } catch (const IoError&) {
      const Process ended = std::exchange(server_, {});
      return no_answer(command_.python, ended, longest(options));
    } catch (...) {  // the caller does not wait any longer
      detail::end_tree(server_);
      throw;
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
    return {told.at("pid").get<pid_t>(), pidfd.release()};
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
  std::string ask(const Json& request, int descriptor, double seconds, Descriptor* answered,
                  const std::function<void()>& meanwhile = {}) {
    ensure_server();
    detail::send_line(socket_.get(), to_text(request), descriptor);
    return detail::receive_line(socket_.get(), seconds, answered, meanwhile);
  }

  void ensure_server() {
    if (server_.running()) { return; }
    if (server_.pid() > 0) { reap(server_.pid()); }
    detail::Pair socket = detail::make_socket();
    server_ = start_ ? start_(socket.theirs.get(), lifeline_.get(), lifeline_.held())
                     : detail::spawn_python(command_.python, words_,
                                            {payload_.get(), lifeline_.get(), socket.theirs.get()});
    socket_ = std::move(socket.ours);
  }

  WorkerCommand command_;
  std::vector<std::string> words_;
  Descriptor payload_;
  ServerStart start_;
  Lifeline lifeline_;
  pid_t owner_ = ::getpid();  // a fork of this process has no say over its workers
  std::mutex mutex_;
  Process server_;
  Descriptor socket_;
};

}  // namespace

std::unique_ptr<Launcher> make_spawn_launcher(WorkerCommand command) {
  return std::make_unique<ServerLauncher>(std::move(command),
                                          std::vector<std::string>{"serve", "spawn"}, nullptr);
}

std::unique_ptr<Launcher> make_server_launcher(WorkerCommand command, ServerStart start) {
  return std::make_unique<ServerLauncher>(std::move(command), std::vector<std::string>{"serve"},
                                          std::move(start));
}

}  // namespace penstock
