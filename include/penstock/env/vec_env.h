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

#include "penstock/base/config.h"
#include "penstock/env/env.h"

namespace penstock {

/// Envs [begin, end).
struct EnvRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
};

/// Where a block's next observations go: row i of each span belongs to env `range.begin + i`.
struct ObsRows {
  std::span<float> obs;   // [size, obs_size]
  std::span<bool> legal;  // [size, num_actions]; empty when the action spec is not masked
};

/// A block's actions, one of the two by the kind of the action spec.
struct ActionRows {
  std::span<const std::int64_t> choices;  // [size, dims]
  std::span<const float> points;          // [size, dims], inside the box
};

/// A finished episode.
struct EpisodeEnd {
  double total_reward = 0;
  std::int64_t length = 0;
  Success success = Success::unknown;
  bool discarded = false;                 // cut short by a failure: counted, but in no statistics
  std::array<double, kMaxStats> stats{};  // the env's own, as EnvSpec::stats names them
  std::size_t env = 0;                    // whose it was; told by the sampler
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
struct Incident {
  std::string message;      // what, where, and what was done about it
  std::string replay;       // a document that `penstock replay` reproduces it from
  std::string replay_name;  // of a file for it
};

/// Many envs of one kind. An episode that ends is followed at once by the next one: `next` then
/// holds the new episode's first row and `final_obs` the old one's last.
///
/// Thread safety: calls on disjoint ranges may run at the same time; that is how shards use it.
/// What an env does depends on (seed, env, episode, actions) only, never on ranges or threads.
class VecEnv {
 public:
  virtual ~VecEnv() = default;
  [[nodiscard]] virtual const EnvSpec& spec() const = 0;
  [[nodiscard]] virtual std::size_t num_envs() const = 0;

  /// Makes an env's next episodes those of env 0 of a batch with this seed, from the first on: how
  /// Gymnasium seeds, env by env. The seed is not part of save().
  virtual void seed(std::size_t env, std::uint64_t seed) = 0;
  /// Starts the next episode of each env of the range.
  virtual void reset(EnvRange range, ObsRows next) = 0;
  virtual void step(EnvRange range, ActionRows actions, ObsRows next, OutcomeRows outcome) = 0;

  /// Whether a step is made elsewhere, by processes: start_step() then returns at once, and
  /// finish_step(), of the same range, waits for it. step() is both.
  [[nodiscard]] virtual bool asynchronous() const { return false; }
  virtual void start_step(EnvRange range, ActionRows actions);
  virtual void finish_step(EnvRange range, ObsRows next, OutcomeRows outcome);
  /// Failures that were survived since the last call.
  virtual std::vector<Incident> take_incidents() { return {}; }

  /// One env's whole state: episode number, statistics and the simulator in mid-episode. Loading
  /// does not bring back the row last written; whoever saves the env saves the row.
  virtual void save(std::size_t env, std::vector<std::byte>& out) const = 0;
  /// Throws DataError when the bytes are not this env's.
  virtual void load(std::size_t env, std::span<const std::byte> bytes) = 0;

  /// Episodes that begin from now on are evaluation: envs leave out what they do for learning's
  /// sake alone, as exploring on their own. Not part of save().
  virtual void begin_evaluation() {}

  /// What all envs learn together. It is fixed during a rollout, so that ranges and threads cannot
  /// matter; the trainer calls this between rollouts, on one thread, and envs may then put together
  /// what each of them has seen.
  virtual void between_rollouts() {}
  /// Names and values to be logged since the last call; "embedding/loss".
  virtual std::vector<std::pair<std::string, double>> take_metrics() { return {}; }
  /// The state that between_rollouts() changes, for checkpoints and for envs that evaluate; it does
  /// not depend on the number of envs. Nothing is written by envs that have none.
  virtual void save_shared(std::vector<std::byte>& /*out*/) const {}
  /// Throws DataError when the bytes are not of such envs.
  virtual void load_shared(std::span<const std::byte> bytes);
};

/// Makes VecEnvs of one kind; holds the kind's config.
class EnvFactory {
 public:
  virtual ~EnvFactory() = default;
  /// The config's keys, under "env.".
  virtual std::vector<Field> fields() = 0;
  [[nodiscard]] virtual EnvSpec spec() const = 0;
  /// What a run of that many envs should say of them at its beginning, a line each.
  [[nodiscard]] virtual std::vector<std::string> notes(std::size_t /*num_envs*/) const {
    return {};
  }
  [[nodiscard]] virtual std::unique_ptr<VecEnv> make(std::size_t num_envs,
                                                     std::uint64_t seed) const = 0;
};

/// A line of the catalog.
struct EnvEntry {
  std::string name;  // "cartpole"
  std::string doc;   // "CartPole-v1: balance a pole on a cart"
  std::function<std::unique_ptr<EnvFactory>()> make_factory;
};

}  // namespace penstock
