#include "penstock/envs/python/python_env.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <sstream>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/thread_pool.h"

namespace penstock {
namespace {

struct PythonEnvConfig {
  std::string kwargs = "{}";
  std::string info_keys;
  std::int64_t num_workers = -1;
  std::int64_t envs_per_worker = 0;
  std::string start_method = "auto";
  std::int64_t max_restarts = 10;
  double restart_window_s = 3600;
  double step_deadline_s = 60;
  double start_deadline_s = 300;
  std::string python;
  bool only_classes = false;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit("kwargs", kwargs, "keywords of the env, as a JSON object");
    visit("info_keys", info_keys,
          "numbers in the info that ends an episode, to be averaged into the metrics, as km,won");
    visit("num_workers", num_workers,
          "worker processes; 0: in this process; auto: measured. Never changes results",
          Range{0, 4096, true, -1});
    visit(
        "envs_per_worker", envs_per_worker,
        "envs of each worker; together with num_workers it makes num_envs, alone it says how many "
        "workers they need; 0: by num_workers",
        Range{0, 65536});
    visit("start_method", start_method,
          "how workers start: forkserver (auto), from a helper that has imported the env; spawn, "
          "each anew; fork, from this process",
          Choices{"auto", "spawn", "fork", "forkserver"});
    visit("max_restarts", max_restarts,
          "failures of envs and workers that a run survives within restart_window_s",
          Range{0, 1e9});
    visit("restart_window_s", restart_window_s,
          "seconds after which a failure no longer counts towards max_restarts; 0: it always does",
          Range{0, 1e9});
    visit("step_deadline_s", step_deadline_s, "seconds after which a step counts as hanging",
          Range{0.01, 1e9});
    visit("start_deadline_s", start_deadline_s,
          "seconds after which making or resetting an env counts as hanging", Range{0.01, 1e9});
    visit("python", python, "interpreter of the workers; empty: the one that runs, or python3");
    visit("only_classes", only_classes,
          "call nothing but classes of gymnasium.Env, no functions: so for runs of others");
  }
};

/// What describe() of penstock_worker tells of an env.
struct Description {
  EnvSpec spec;
  double step_s = 0;   // a step takes
  double cpu_s = 0;    // of which it computes
  std::string spaces;  // as pickled_spaces() has them
  bool keeps_state = false;
};

template <class T>
std::vector<T> list_of(const Json& json) {
  return json.get<std::vector<T>>();
}

/// JSON knows no infinity: what is this large stands for it.
std::vector<float> bounds_of(const Json& json) {
  constexpr float kEndless = 1e30F;
  std::vector<float> bounds = list_of<float>(json);
  for (float& bound : bounds) {
    if (std::abs(bound) >= kEndless) {
      bound = std::copysign(std::numeric_limits<float>::infinity(), bound);
    }
  }
  return bounds;
}

ActionSpec action_of(const Json& json) {
  const bool masked = json.at("masked");
  const std::string kind = json.at("kind");
  if (kind == "box") { return Box{bounds_of(json.at("low")), bounds_of(json.at("high"))}; }
  if (kind == "multi_discrete") {
    return MultiDiscrete{list_of<std::int64_t>(json.at("n")), masked};
  }
  return Discrete{json.at("n").at(0), masked};
}

Description parse(const std::string& id, const std::string& text) {
  const Json json = try_parse_json(text);
  if (json.is_discarded()) { throw ConfigError(fmt::format("env.id = {}: no description", id)); }
  if (json.contains("error")) {
    throw ConfigError(fmt::format("env.id = {}: {}", id, json["error"].get<std::string>()));
  }
  Description out;
  for (const Json& part : json.at("parts")) {
    out.spec.obs.append(part.at("name"), list_of<std::int64_t>(part.at("shape")));
  }
  out.spec.action = action_of(json.at("action"));
  try {
    check_spec(out.spec, out.spec.action.continuous() ? StepKind::point : StepKind::choices);
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("env.id = {}: {}", id, error.what()));
  }
  out.step_s = json.at("step_s");
  out.cpu_s = json.value("step_cpu_s", out.step_s);
  out.spaces = json.value("spaces", "");
  out.keeps_state = json.value("keeps_state", false);
  return out;
}

void check_stats(const EnvSpec& spec) {
  if (spec.stats.size() <= kMaxStats) { return; }
  throw ConfigError(fmt::format("env.info_keys names {} keys, at most {} can be averaged",
                                spec.stats.size(), kMaxStats));
}

/// Workers per core: where steps wait, for a service or a device, others compute meanwhile.
std::size_t workers_per_core(const Description& env) {
  constexpr double kWorthWaitingS = 100e-6;  // below, waking up costs as much
  constexpr double kMost = 4;
  if (env.step_s < kWorthWaitingS) { return 1; }
  return std::lround(std::clamp(env.step_s / std::max(env.cpu_s, 1e-9), 1.0, kMost));
}

/// As many as what they save is clearly more than handing over costs; else `least`.
std::size_t measured_workers(const Description& env, std::size_t num_envs, std::size_t least) {
  constexpr double kHandOverS = 60e-6;  // of a batch, generously
  const std::size_t workers = std::min(available_cores() * workers_per_core(env), num_envs);
  const double work = num_envs * env.step_s;
  const double saved = work - work / std::max<std::size_t>(workers, 1);
  return saved > kHandOverS ? workers : least;
}

std::string interpreter(const std::string& configured, const PythonHost& host) {
  if (!configured.empty()) { return configured; }
  if (!host.python.empty()) { return host.python; }
  if (const char* venv = std::getenv("VIRTUAL_ENV")) { return std::string(venv) + "/bin/python"; }
  return "python3";
}

/// A kind of env with what starts its workers. Factories of the same kind share it: a config that
/// is built up key by key makes many.
struct Kind {
  std::mutex mutex;
  std::shared_ptr<Launcher> launcher;
  std::unique_ptr<Description> known;
};

std::shared_ptr<Kind> kind_of(const std::string& key) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<Kind>> kinds;
  const std::scoped_lock lock(mutex);
  std::shared_ptr<Kind> kind = kinds[key].lock();
  if (!kind) { kinds[key] = kind = std::make_shared<Kind>(); }
  return kind;
}

class PythonEnvFactory final : public EnvFactory {
 public:
  PythonEnvFactory(std::string id, PythonHost host) : id_(std::move(id)), host_(std::move(host)) {}

  std::vector<Field> fields() override { return fields_of(config_, "env."); }

  [[nodiscard]] EnvSpec spec() const override { return description().spec; }
  [[nodiscard]] std::string spaces() const { return description().spaces; }

  [[nodiscard]] std::vector<std::string> examiner() const override {
    return {interpreter(config_.python, host_),
            "-P",
            "-m",
            "penstock_worker.check",
            id_,
            "--kwargs",
            config_.kwargs};
  }

  [[nodiscard]] std::vector<std::string> notes(std::size_t num_envs) const override {
    const Description& known = description();
    const std::size_t workers = workers_for(num_envs, known);
    const double computing = known.step_s > 0 ? std::min(1.0, known.cpu_s / known.step_s) : 1;
    return {fmt::format(
        "{}{}; a step takes {:.3g} ms, {:.0f} % of it computing",
        workers == 0
            ? "envs in this process"
            : fmt::format("{} worker processes ({})", workers,
                          config_.start_method == "auto" ? "forkserver" : config_.start_method),
        config_.num_workers < 0 && config_.envs_per_worker == 0 ? ", auto" : "", known.step_s * 1e3,
        computing * 100)};
  }

  [[nodiscard]] std::size_t num_processes(std::size_t num_envs) const override {
    return std::min(workers_for(num_envs, description()), num_envs);
  }

  [[nodiscard]] std::unique_ptr<VecEnv> make_slice(EnvSlice slice,
                                                   std::uint64_t seed) const override {
    const Description& known = description();
    ProcessEnv::Options options{.id = id_,
                                .kwargs = config_.kwargs,
                                .envs = slice,
                                .seed = seed,
                                .num_workers = workers_for(slice.count, known),
                                .step_deadline_s = config_.step_deadline_s,
                                .start_deadline_s = config_.start_deadline_s,
                                .max_restarts = config_.max_restarts,
                                .restart_window_s = config_.restart_window_s,
                                .keeps_state = known.keeps_state,
                                .replay_options = replay_options()};
    if (options.num_workers == 0) {
      return std::make_unique<ProcessEnv>(known.spec, options, [this](SharedRows& rows) {
        return host_.make_inline(rows, payload());
      });
    }
    return std::make_unique<ProcessEnv>(known.spec, options, launcher());
  }

 private:
  [[nodiscard]] std::size_t workers_for(std::size_t num_envs, const Description& env) const {
    if (config_.envs_per_worker > 0) {
      const std::size_t each = config_.envs_per_worker;
      return (num_envs + each - 1) / each;
    }
    if (config_.num_workers > 0) { return config_.num_workers; }
    if (!host_.make_inline) {
      if (config_.num_workers == 0) {
        throw ConfigError(
            "env.num_workers = 0: this program holds no Python; use 1 or more, or `python -m "
            "penstock`");
      }
      return measured_workers(env, num_envs, 1);
    }
    return config_.num_workers == 0 ? 0 : measured_workers(env, num_envs, 0);
  }

  /// The user's word for the env that the file names, and what may not come from a file.
  [[nodiscard]] std::string replay_options() const {
    std::string options = id_.find(':') == std::string::npos ? "" : "--env " + id_;
    if (!config_.python.empty()) {
      options += fmt::format("{}--python {}", options.empty() ? "" : " ", config_.python);
    }
    return options;
  }

  [[nodiscard]] std::vector<std::string> info_keys() const {
    std::vector<std::string> keys;
    std::istringstream words(config_.info_keys);
    for (std::string word; std::getline(words, word, ',');) {
      std::erase(word, ' ');
      if (!word.empty()) { keys.push_back(word); }
    }
    return keys;
  }

  [[nodiscard]] std::string payload() const {
    Json all = parse_json(host_.payload);
    all["id"] = id_;
    all["kwargs"] = try_parse_json(config_.kwargs);
    all["info_keys"] = info_keys();
    all["only_classes"] = config_.only_classes;
    if (!all["kwargs"].is_object()) {
      throw ConfigError(
          fmt::format("env.kwargs = {}: expected a JSON object such as "
                      "{{\"size\": 3}}",
                      config_.kwargs));
    }
    return to_text(all);
  }

  /// Of the config as it is now.
  [[nodiscard]] Kind& kind() const {
    const std::string key = fmt::format("{}\n{}\n{}", interpreter(config_.python, host_),
                                        config_.start_method, payload());
    const std::scoped_lock lock(mutex_);
    if (!kind_ || key != key_) {
      kind_ = kind_of(key);
      key_ = key;
    }
    return *kind_;
  }

  [[nodiscard]] std::shared_ptr<Launcher> launcher() const {
    Kind& shared = kind();
    const std::scoped_lock lock(shared.mutex);
    if (!shared.launcher) { shared.launcher = make_launcher(); }
    return shared.launcher;
  }

  [[nodiscard]] std::shared_ptr<Launcher> make_launcher() const {
    WorkerCommand command{interpreter(config_.python, host_), payload()};
    if (config_.start_method == "spawn") { return make_spawn_launcher(std::move(command)); }
    if (config_.start_method != "fork") { return make_server_launcher(std::move(command)); }
    if (!host_.fork_server) {
      throw ConfigError(
          "env.start_method = fork: this program holds no Python to fork; use forkserver or spawn");
    }
    return make_server_launcher(
        command, [host = host_, payload = command.payload](int socket, int lifeline, int held) {
          return host.fork_server(payload, socket, lifeline, held);
        });
  }

  /// Asked once: it takes an interpreter and an env.
  [[nodiscard]] const Description& description() const {
    const std::shared_ptr<Launcher> from = launcher();
    Kind& shared = kind();
    const std::scoped_lock lock(shared.mutex);
    if (!shared.known) {
      const TrialOptions trial{.start_deadline_s = config_.start_deadline_s,
                               .step_deadline_s = config_.step_deadline_s,
                               .meanwhile = host_.check_interrupt};
      shared.known = std::make_unique<Description>(parse(id_, from->describe(trial)));
      shared.known->spec.stats = info_keys();
      check_stats(shared.known->spec);
    }
    return *shared.known;
  }

  std::string id_;
  PythonHost host_;
  PythonEnvConfig config_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<Kind> kind_;
  mutable std::string key_;
};

}  // namespace

bool names_python_env(const std::string& id) {
  const auto dash = id.rfind("-v");
  const bool versioned = dash != std::string::npos && dash > 0 && dash + 2 < id.size() &&
                         std::all_of(id.begin() + dash + 2, id.end(),
                                     [](unsigned char c) { return std::isdigit(c) != 0; });
  return versioned || id.find(':') != std::string::npos;
}

std::unique_ptr<EnvFactory> make_python_env(const std::string& id, PythonHost host) {
  return std::make_unique<PythonEnvFactory>(id, std::move(host));
}

std::string pickled_spaces(const EnvFactory& factory) {
  const auto* python = dynamic_cast<const PythonEnvFactory*>(&factory);
  return python != nullptr ? python->spaces() : "";
}

}  // namespace penstock
