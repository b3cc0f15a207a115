#pragma once
#include <functional>
#include <memory>
#include <string>

#include "penstock/core/env/vec_env.h"
#include "penstock/envs/python/launcher.h"
#include "penstock/envs/python/process_env.h"

namespace penstock {

/// How a program that embeds an interpreter helps: all optional.
/// Its functions may be called from any thread, and as long as factories and envs live.
struct PythonHost {
  std::string python;  // the interpreter to run workers with; empty: of the environment
  /// What to put before the payload's own keys: sys.path, a pickled factory.
  std::string payload = "{}";  // JSON
  /// Envs in this process.
  std::function<std::unique_ptr<InlineWorker>(SharedRows&, const std::string& payload)> make_inline;
  /// Called several times a second while an env is tried out; throws where the user wants an end.
  std::function<void()> check_interrupt;
  /// A fork of this process that serves as a server.
  std::function<Process(const std::string& payload, int socket, int lifeline, int held)>
      fork_server;
};

/// Whether a name that is in no catalog means an env of Python: "CartPole-v1", "my_pkg:MyEnv-v0",
/// "my_pkg:make_env".
/// By its spelling alone: a version at the end or a colon. Whether it exists is found out later.
bool names_python_env(const std::string& id);

/// A factory for Gymnasium envs.
/// Cheap: an interpreter is started when spec() or make() is called first, and shared by all
/// factories of the same id, keywords and interpreter. Those calls throw ConfigError with the
/// reason when the env cannot be made.
std::unique_ptr<EnvFactory> make_python_env(const std::string& id, PythonHost host = {});

/// Gymnasium's spaces of a factory's env as Python pickles them, (observation, action), in base64.
/// Empty when the env is not of Python, or its spaces do not pickle. Throws as spec() does.
std::string pickled_spaces(const EnvFactory& factory);

}  // namespace penstock
