#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/core/base/config.h"
#include "penstock/core/env/env.h"

namespace penstock {

/// Envs [begin, end).
/// `begin` is not above `end`.
struct EnvRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
};

/// Where a block's next observations go: row i of each span belongs to env `range.begin + i`.
/// Every float of a row is written. A mask row has at least one true per choice.
struct ObsRows {
  std::span<float> obs = {};   // [size, obs_size]
  std::span<bool> legal = {};  // [size, num_actions]; empty when the action spec is not masked
};

/// A block's actions, one of the two by the kind of the action spec.
struct ActionRows {
  std::span<const std::int64_t> choices = {};  // [size, dims]
  std::span<const float> points = {};          // [size, dims], inside the box
};

/// A finished episode.
struct EpisodeEnd {
  double total_reward = 0;  // undiscounted
  std::int64_t length = 0;  // steps
  Success success = Success::unknown;
  bool discarded = false;                 // cut short by a failure: counted, but in no statistics
  std::array<double, kMaxStats> stats{};  // the env's own, as EnvSpec::stats names them
  std::size_t env = 0;                    // whose episode it was; set by the sampler
};

/// What a step brought to a block, lent by the caller.
struct OutcomeRows {
  std::span<float> reward;        // [size]
  std::span<bool> terminated;     // [size]
  std::span<bool> truncated;      // [size]; may hold together with terminated, which then wins
  std::span<float> final_obs;     // [size, obs_size]; written where the episode ended
  std::span<EpisodeEnd> episode;  // [size]; written where the episode ended
};

/// An env that failed.
/// For people; nothing has to be done about it.
struct Incident {
  std::string message;              // what, where, and what was done about it
  std::string replay;               // a document that `penstock replay` reproduces it from
  std::string replay_name;          // of a file for it
  std::string replay_options = {};  // of `penstock replay` beside the file
};

/// A facet of envs that learn something together. It is fixed during a rollout, so that ranges and
/// threads cannot matter. All calls come between rollouts, from one thread.
class SharedLearner {
 public:
  /// What the envs of all processes have noted, in the order of their numbers, from what those here
  /// have. Empty in a run of one process.
  using Join = std::function<std::vector<std::byte>(std::span<const std::byte> here)>;
  /// Envs may put together what each of them has seen: all that the run has, by `join`, which every
  /// process calls as often as the others.
  virtual void between_rollouts(const Join& join) = 0;
  /// Names and values to be logged since the last call; "embedding/loss".
  virtual std::vector<std::pair<std::string, double>> take_metrics() = 0;
  /// Episodes that begin from now on are evaluation: envs leave out what they do for learning's
  /// sake alone, as exploring on their own. Not part of save().
  virtual void begin_evaluation() = 0;
  /// Appends the state that between_rollouts() changes, for checkpoints and for envs that evaluate;
  /// it does not depend on the number of envs.
  virtual void save(std::vector<std::byte>& out) const = 0;
  /// Throws DataError when the bytes are not of such envs.
  virtual void load(std::span<const std::byte> bytes) = 0;

 protected:
  ~SharedLearner() = default;
};

/// A facet of envs whose steps are made elsewhere, by processes: start_step() returns at once, and
/// finish_step(), of the same range, waits for it. VecEnv::step() is both. Thread safety is that of
/// VecEnv.
class AsyncStepper {
 public:
  /// The actions are read before it returns.
  virtual void start_step(EnvRange range, ActionRows actions) = 0;
  virtual void finish_step(EnvRange range, ObsRows next, OutcomeRows outcome) = 0;

 protected:
  ~AsyncStepper() = default;
};

/// Which envs of a run a process holds: numbers first ... first + count - 1 of all there are.
/// Memory is local, so rows and ranges count from 0; identity is global, so seeds, noise and the
/// names in errors come from an env's number in the run.
struct EnvSlice {
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t of = 0;  // envs of the run; 0: these are all
  [[nodiscard]] std::size_t total() const { return of > 0 ? of : count; }
};

/// Processes that envs live in, beside this one.
struct EnvProcesses {
  std::size_t count = 0;
  double cpu_s = 0;  // that they have used so far
};

/// Many envs of one kind. An episode that ends is followed at once by the next one: `next` then
/// holds the new episode's first row and `final_obs` the old one's last.
///
/// Thread safety: calls on disjoint ranges may run at the same time; that is how shards use it.
/// What an env does depends on (seed, env, episode, actions) only, never on ranges or threads.
class VecEnv {
 public:
  virtual ~VecEnv() = default;
  /// Of one env; they are all alike. Lives as long as the envs.
  [[nodiscard]] virtual const EnvSpec& spec() const = 0;
  [[nodiscard]] virtual std::size_t num_envs() const = 0;

  /// Makes an env's next episodes those of env 0 of a batch with this seed, from the first on: how
  /// Gymnasium seeds, env by env. The seed is not part of save().
  /// Not while other calls run on that env.
  virtual void seed(std::size_t env, std::uint64_t seed) = 0;
  /// Starts the next episode of each env of the range.
  /// The episode in progress is given up and told to nobody.
  virtual void reset(EnvRange range, ObsRows next) = 0;
  /// One step of each env of the range, after a reset(). Spans are lent for the call. Throws the
  /// Error of an env that failed; the envs of the range then stand anywhere.
  virtual void step(EnvRange range, ActionRows actions, ObsRows next, OutcomeRows outcome) = 0;

  /// Between steps only.
  [[nodiscard]] virtual EnvProcesses processes() const { return {}; }
  /// Failures that were survived since the last call.
  virtual std::vector<Incident> take_incidents() { return {}; }

  /// One env's whole state: episode number, statistics and the simulator in mid-episode. Loading
  /// does not bring back the row last written; whoever saves the env saves the row.
  /// Appends to `out`.
  virtual void save(std::size_t env, std::vector<std::byte>& out) const = 0;
  /// Throws DataError when the bytes are not this env's.
  virtual void load(std::size_t env, std::span<const std::byte> bytes) = 0;

  /// What only some envs have; null where there is none. They belong to the envs.
  virtual SharedLearner* shared() { return nullptr; }
  virtual AsyncStepper* async() { return nullptr; }
};

/// The state that envs have in common, as a SharedLearner saves it; empty where there is none.
std::vector<std::byte> save_shared(VecEnv& envs);
/// Throws DataError when the bytes are not of such envs; no bytes change nothing.
void load_shared(VecEnv& envs, std::span<const std::byte> bytes);

/// Throws the Error of an env that failed: which one, the seed of its episode, the step, and why.
[[noreturn]] void report_failure(std::size_t env, std::uint64_t seed, std::int64_t step,
                                 const char* what);

/// Makes VecEnvs of one kind; holds the kind's config.
class EnvFactory {
 public:
  virtual ~EnvFactory() = default;
  /// The config's keys, under "env.".
  virtual std::vector<Field> fields() = 0;
  /// Of the config as it is now. May take long where it has to start an interpreter.
  [[nodiscard]] virtual EnvSpec spec() const = 0;
  /// What a run of that many envs should say of them at its beginning, a line each.
  [[nodiscard]] virtual std::vector<std::string> notes(std::size_t /*num_envs*/) const {
    return {};
  }
  /// Processes that a run of that many envs starts for them.
  [[nodiscard]] virtual std::size_t num_processes(std::size_t /*num_envs*/) const { return 0; }
  /// Words of a program that examines such an env and says on stdout what it found; empty: there is
  /// none.
  [[nodiscard]] virtual std::vector<std::string> examiner() const { return {}; }
  /// All envs of a run, of the config as it is now; the same seed gives the same episodes. Throws
  /// ConfigError.
  [[nodiscard]] std::unique_ptr<VecEnv> make(std::size_t num_envs, std::uint64_t seed) const {
    return make_slice({.first = 0, .count = num_envs}, seed);
  }
  /// Some envs of a run, each what it would be if one process held them all.
  [[nodiscard]] virtual std::unique_ptr<VecEnv> make_slice(EnvSlice slice,
                                                           std::uint64_t seed) const = 0;
};

/// A line of the catalog.
struct EnvEntry {
  std::string name;  // "cartpole"
  std::string doc;   // "CartPole-v1: balance a pole on a cart"
  /// A new factory each time, with the default config.
  std::function<std::unique_ptr<EnvFactory>()> make_factory;
};

/// The same env with some keys set: with_settings(entry, {"env.length=5"}, "--set"). Its factories
/// are made by make_factory(), which then throws ConfigError when a key or a value is wrong;
/// `origin` is who gave them.
EnvEntry with_settings(EnvEntry entry, std::vector<std::string> assignments, std::string origin);

}  // namespace penstock
