#pragma once
#include <functional>
#include <memory>
#include <string>

#include "penstock/env/vec_env.h"
#include "penstock/procs/launcher.h"
#include "penstock/procs/process_env.h"

namespace penstock {

/// How a program that embeds an interpreter helps: all optional.
struct PythonHost {
  std::string python;  // the interpreter to run workers with; empty: of the environment
  /// What to put before the payload's own keys: sys.path, a pickled factory.
  std::string payload = "{}";  // JSON
  /// Envs in this process.
  std::function<std::unique_ptr<InlineWorker>(SharedRows&, const std::string& payload)> make_inline;
  /// A fork of this process that serves as a server.
  std::function<Process(const std::string& payload, int socket, int lifeline, int held)>
      fork_server;
};

/// Whether a name that is in no catalog means an env of Python: "CartPole-v1", "my_pkg:MyEnv-v0",
/// "my_pkg:make_env".
bool names_python_env(const std::string& id);

/// A factory for Gymnasium envs.
std::unique_ptr<EnvFactory> make_python_env(const std::string& id, PythonHost host = {});

}  // namespace penstock
