#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/algo/ppo.h"
#include "penstock/rollout/sampler.h"
#include "penstock/store/checkpoint.h"
#include "penstock/train/config.h"

namespace penstock {

/// A policy to act with: network, head and frozen normaliser. What evaluation and export need.
struct Actor {
  Policy& policy;
  const ActionHead& head;
  const ObsNormaliser* normaliser = nullptr;  // null: rows are used as they are
  const VecEnv* envs = nullptr;               // what these share, the envs that evaluate begin with
};

/// The parts of a run joined together, without files: envs, policy, sampler, learner. Its results
/// are a function of the config alone.
class Engine {
 public:
  explicit Engine(const Plan& plan);
  ~Engine();

  /// Up to `num_steps` more steps of every env; true when the rollout is full.
  bool sample(std::int64_t num_steps);
  /// Learns from the full rollout and starts the next one.
  Metrics update();

  /// How the engine runs, none of which changes results. What the config leaves to "auto" is
  /// measured during the first updates, and again now and then.
  struct Tuning {
    std::size_t threads = 1;
    std::size_t block = 0;    // envs of a block; 0: whole shards
    std::string measurement;  // what was measured when the last choice was made; empty: nothing
    int choices = 0;          // made so far
  };
  [[nodiscard]] Tuning tuning() const;
  [[nodiscard]] bool fused() const;

  [[nodiscard]] std::int64_t timesteps() const;
  [[nodiscard]] std::int64_t num_updates() const;
  /// Steps of every env still missing in the rollout in flight.
  [[nodiscard]] std::int64_t steps_left() const;
  [[nodiscard]] Sampler& sampler();
  [[nodiscard]] VecEnv& envs();
  [[nodiscard]] const VecEnv& envs() const;
  [[nodiscard]] Actor actor();
  [[nodiscard]] ThreadPool& pool();

  /// XXH3 of all weights, by name.
  [[nodiscard]] std::string digest() const;

  /// Views of everything that makes up the run; valid until the engine moves on. `counters` of the
  /// engine are appended to the JSON object `state` (text) under "engine".
  struct Snapshot;
  [[nodiscard]] std::unique_ptr<Snapshot> snapshot() const;
  /// Throws DataError when the checkpoint is not of this config.
  void restore(const Checkpoint& checkpoint);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Owns what a checkpoint's views point to.
struct Engine::Snapshot {
  CheckpointData data;  // data.state is the engine's own JSON object
  std::vector<at::Tensor> kept_tensors;
  std::vector<std::byte> env_bytes;
  std::vector<std::byte> shared_bytes;
};

/// The device that config.device names; ConfigError with the remedy when it is not there.
at::Device device_of(const std::string& name);

/// Makes this thread and every thread of the pool compute with one intra-op thread.
void use_one_torch_thread();

}  // namespace penstock
