#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "penstock/envs/python/process.h"
#include "penstock/envs/python/shared_rows.h"

namespace penstock {

/// Carries out orders in this process, on the thread that gives them.
/// For envs that are cheaper to step than to hand over.
class InlineWorker {
 public:
  virtual ~InlineWorker() = default;
  /// Writes the env's rows and its answer before it returns; what an env throws is an answer too.
  virtual void work(std::size_t env, Order order) = 0;
};

/// How long an env may take while it is tried out.
struct TrialOptions {
  double start_deadline_s = 300;  // to be made, and to be reset
  double step_deadline_s = 60;
  /// Called several times a second meanwhile; what it throws ends the trial and is passed on.
  std::function<void()> meanwhile = {};
};

/// Starts workers. Thread safe.
class Launcher {
 public:
  virtual ~Launcher() = default;
  /// What an env of this kind looks like, as JSON (python/penstock_worker/describe.py says how), or
  /// {"error": "..."}.
  /// Takes as long as an interpreter and an env take to start, within the deadlines.
  virtual std::string describe(const TrialOptions& options) = 0;
  /// A worker that serves its range of the rows, and ends with this process. Throws IoError, or
  /// ConfigError when there is no such interpreter.
  virtual Process start(const SharedRows& rows, std::size_t worker) = 0;
  /// How a worker that is no longer running ended.
  /// As status_text() puts it; "ended" where nobody knows. Call it once for each that was started.
  virtual std::string end_of(const Process& process) = 0;
};

/// How to run an interpreter with penstock_worker, and what it should make.
struct WorkerCommand {
  std::string python;   // a path or a name on the PATH
  std::string payload;  // what penstock_worker.factory reads: how to make an env
};

/// Makes a child that serves the socket as penstock_worker.server does and ends when the lifeline,
/// a pipe whose other end is `held`, does; called again when it has ended.
using ServerStart = std::function<Process(int socket, int lifeline, int held)>;

/// Workers are forked from a server: one interpreter that has imported what it takes, so that a new
/// worker is there in milliseconds. `start` makes the server; without it, it is a fresh
/// interpreter. When a worker ends, so do the processes that its envs have started; at the latest
/// when the launcher is destroyed or this process ends.
std::unique_ptr<Launcher> make_server_launcher(WorkerCommand command, ServerStart start = {});

/// The same, but the server imports nothing, and each worker is a fresh interpreter: a start costs
/// what importing the env costs.
std::unique_ptr<Launcher> make_spawn_launcher(WorkerCommand command);

}  // namespace penstock
