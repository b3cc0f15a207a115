#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/act/obs_normaliser.h"
#include "penstock/core/base/config.h"
#include "penstock/core/train/catalog.h"

namespace penstock {

class Limits;
struct Room;

/// What every env has; the keys of its kind stand beside these.
struct EnvConfig {
  std::string id = "cartpole";
  std::int64_t num_envs = 64;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit("id", id, "which env of the catalog; its own keys stand beside this one");
    visit("num_envs", num_envs, "envs stepped side by side", Range{1, 65536});
  }
};

/// What every network has; the keys of its kind stand beside these.
struct NetSection {
  std::string kind = "mlp";
  bool squash = false;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit("kind", kind, "which network of the catalog; its own keys stand beside this one");
    visit("squash", squash, "squash box actions by tanh instead of clipping them");
  }
};

/// How experience is cut into pieces. `block` never changes results; the other two do.
struct RolloutConfig {
  std::int64_t steps = 64;
  std::int64_t shards = 2;
  std::int64_t block = 0;  // envs; 0 is auto

  template <class Visitor>
  void fields(Visitor& visit) {
    visit("steps", steps, "steps of every env per rollout; auto: the longest episode",
          Range{0, 1 << 20, true});
    visit(
        "shards", shards,
        "parts that envs and minibatches are split into; at most this many threads are of use, and "
        "results depend on it",
        Range{1, 1024});
    visit(
        "block", block,
        "envs that go through a rollout together on a thread, with a fused policy; auto: measured. "
        "Never changes results",
        Range{0, 65536, true});
  }
};

/// Where a run lives and when it saves, logs, evaluates and ends.
struct RunSection {
  std::string dir;
  std::string start_from;
  std::int64_t save_interval = 0;
  std::string save_unit = "steps";
  double save_every_s = 30;     // since the last checkpoint, for whatever reason it was made
  std::int64_t save_tries = 8;  // in a row; with their pauses they take two minutes
  std::int64_t keep = 3;
  std::int64_t log_interval = 1;
  bool print_updates = false;
  std::int64_t eval_interval = 0;  // with it, the best checkpoint is the one of the best evaluation
  std::int64_t eval_episodes = 20;
  std::int64_t eval_max_steps = 100'000;
  double stop_at_reward = std::numeric_limits<double>::infinity();

  template <class Visitor>
  void fields(Visitor& visit) {
    visit("dir", dir, "where the run lives; empty: runs/ENV-SEED");
    visit("start_from", start_from,
          "a run whose policy and normaliser this one begins with; the rest may differ");
    visit("save_interval", save_interval, "env steps between checkpoints; 0: by time only",
          Range{0, 1e18});
    visit("save_unit", save_unit, "what save_interval counts: env steps, or updates",
          Choices{"steps", "updates"});
    visit("save_every_s", save_every_s, "seconds between checkpoints; 0: by steps only",
          Range{0, 1e9});
    visit("save_tries", save_tries,
          "tries of a save that fails before the run ends; pauses of 1, 2, 4 ... 60 s between them",
          Range{1, 1e6});
    visit("keep", keep, "newest checkpoints kept, besides the best", Range{1, 1e6});
    visit("log_interval", log_interval, "updates between log lines", Range{1, 1e9});
    visit("print_updates", print_updates, "what is logged is also printed, a line per update");
    visit("eval_interval", eval_interval, "env steps between evaluations; 0: at the end only",
          Range{0, 1e18});
    visit("eval_episodes", eval_episodes, "episodes of an evaluation; 0: none", Range{0, 1e6});
    visit("eval_max_steps", eval_max_steps,
          "steps after which an evaluation cuts an episode off; 0: never", Range{0, 1e15});
    visit("stop_at_reward", stop_at_reward,
          "end once the last 100 episodes have this mean reward; inf: never");
  }
};

/// Everything that a run is a function of, and how it is run.
/// The defaults train CartPole with PPO on one machine. Keys of the env, the network and the
/// algorithm are not here: their factories hold them.
struct RunConfig {
  std::uint64_t seed = 1;                  // below 2^63, which is what TOML can write
  std::int64_t total_timesteps = 500'000;  // over all envs; rollouts are always whole
  std::int64_t total_episodes = 0;
  std::int64_t total_updates = 0;
  double total_seconds = 0;  // of all sittings together
  std::string device = "cpu";
  std::int64_t threads = 0;  // 0 is auto
  bool pin_threads = false;
  std::string algo = "ppo";
  std::string learner = "auto";
  std::string isa = "auto";
  EnvConfig env;
  RolloutConfig rollout;
  NetSection net;
  NormaliseConfig normalise;
  RunSection run;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit("seed", seed, "seed of everything random in the run");
    visit("total_timesteps", total_timesteps,
          "env steps to train for; 0: by total_episodes or total_updates", Range{0, 1e15});
    visit("total_episodes", total_episodes, "end after this many episodes; 0: by steps only",
          Range{0, 1e15});
    visit("total_updates", total_updates,
          "updates to train for where neither steps nor episodes are given, so that both grow with "
          "the number of envs",
          Range{0, 1e12});
    visit("total_seconds", total_seconds,
          "end after this much time, all sittings together; the update in flight is finished; 0: "
          "never",
          Range{0, 1e9});
    visit("device", device, "where the network runs", Choices{"cpu", "cuda", "mps"});
    visit(
        "threads", threads,
        "threads; auto: as many as measurements say, up to cores and shards. Never changes results",
        Range{0, 4096, true});
    visit("pin_threads", pin_threads, "bind each thread to a core");
    visit("algo", algo,
          "which algorithm of the catalog; its keys stand in the section of its name");
    visit("learner", learner,
          "eager: autograd; fused: kernels without a graph, for MLPs; auto: fused where it fits",
          Choices{"auto", "eager", "fused"});
    visit("isa", isa,
          "instruction set of the kernels; auto: the best here. Results depend on it in the last "
          "bits",
          Choices{"auto", "avx512", "avx2", "sse4", "neon", "generic"});
    visit("env", env, "");
    visit("rollout", rollout, "");
    visit("net", net, "");
    visit("normalise", normalise, "");
    visit("run", run, "");
  }
};

/// How a budget of episodes falls into epochs: one episode of every env each.
struct Epochs {
  std::int64_t whole = 0;      // epochs of which every episode counts
  std::int64_t remainder = 0;  // episodes asked of the last epoch, which all envs play all the same

  [[nodiscard]] std::int64_t count() const { return whole + (remainder > 0 ? 1 : 0); }
};

/// Bytes that a run holds at once, by what holds them.
/// An estimate of what grows with the config; libtorch itself is not in it.
struct MemoryEstimate {
  std::int64_t rollout = 0;    // the buffer
  std::int64_t weights = 0;    // with the shards' gradients
  std::int64_t optimiser = 0;  // Adam's moments
  std::int64_t batches = 0;    // what the shards' forward and backward passes keep

  [[nodiscard]] std::int64_t total() const { return rollout + weights + optimiser + batches; }
};

/// Not a key of its own: env.num_workers where the env has workers, else threads.
inline constexpr const char* kWorkersKey = "workers";
/// Not keys of their own either: those of the algorithm.
inline constexpr const char* kLearningRateKey = "learning_rate";
inline constexpr const char* kMinibatchKey = "minibatch";

/// A config with the env it names. Fields point into it, so it stays where it is.
///
///     Settings settings;
///     settings.add_assignment("env.id=cartpole", "--set");
///     const RunPlan plan(settings, default_catalog());
///
/// Immutable once made: threads may share it. It keeps copies of settings and catalog.
class RunPlan {
 public:
  /// Throws ConfigError.
  /// Where a key is "auto" and follows from the env, the number is put in: rollout.steps and, from
  /// total_episodes, total_updates or total_seconds, total_timesteps.
  RunPlan(const Settings& settings, const Catalog& catalog);
  ~RunPlan();
  RunPlan(const RunPlan&) = delete;
  RunPlan& operator=(const RunPlan&) = delete;
  /// What the same settings and one more make, which wins. Throws ConfigError.
  [[nodiscard]] std::shared_ptr<const RunPlan> with(const std::string& path,
                                                    const std::string& text,
                                                    const std::string& origin) const;

  [[nodiscard]] const RunConfig& config() const { return config_; }  // with "auto" resolved
  [[nodiscard]] const EnvFactory& env() const { return *env_; }
  [[nodiscard]] const NetworkFactory& network() const { return *network_; }
  [[nodiscard]] const LearnerFactory& algorithm() const { return *algorithm_; }
  /// All keys with their values and origins, in the order of config.toml; they point into the plan.
  [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }
  /// run.dir, or runs/ENV-SEED. Nothing is created.
  [[nodiscard]] std::string run_dir() const;

  /// Steps of every env between updates.
  [[nodiscard]] std::int64_t horizon() const;
  /// Over all envs.
  [[nodiscard]] std::int64_t samples_per_update() const;
  /// That the budgets of steps and episodes allow; where episodes differ in length, fewer may do.
  [[nodiscard]] std::int64_t max_updates() const;
  /// Whether the run makes that many, unless it is ended before.
  [[nodiscard]] bool knows_updates() const;
  /// "16 updates", "at most 32 updates", "updates for 90 s".
  [[nodiscard]] std::string updates_text() const;
  /// None when the run does not count episodes, or a rollout is not one episode of every env.
  [[nodiscard]] std::optional<Epochs> epochs() const;
  /// Makes a network to count its parameters.
  [[nodiscard]] MemoryEstimate memory() const;
  /// Throw ConfigError, with the limit, what takes the most and what to change, when the run needs
  /// more memory, open files or processes than there is room for.
  void require_room(const Limits& limits) const;
  void require_memory(const Room& room) const;
  /// What looks like a mistake though it is allowed, each with a proposal.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  void require_files(const Room& room) const;
  void require_processes(const Room& room) const;
  [[nodiscard]] std::int64_t worker_processes() const;
  void resolve_auto();
  void bound_by_episodes(std::int64_t longest);
  [[nodiscard]] std::string origin_of(std::string_view path) const;

  Settings settings_;
  Catalog catalog_;
  RunConfig config_;
  std::unique_ptr<EnvFactory> env_;
  std::unique_ptr<NetworkFactory> network_;
  std::unique_ptr<LearnerFactory> algorithm_;
  std::vector<Field> fields_;
};

}  // namespace penstock
