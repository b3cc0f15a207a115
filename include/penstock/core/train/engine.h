#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/core/algo/learner.h"
#include "penstock/core/peers/peers.h"
#include "penstock/core/rollout/fragment_source.h"
#include "penstock/core/store/checkpoint.h"
#include "penstock/core/train/carrier.h"
#include "penstock/core/train/config.h"
#include "penstock/core/train/evaluate.h"

namespace penstock {

/// The parts of a run joined together, without files: envs, policy, sampler, learner. Its results
/// are a function of the config alone.
///
///     Engine engine(plan);
///     engine.sample(engine.steps_left());  // a whole rollout
///     const Metrics metrics = engine.update();
///
/// Not thread-safe: one caller. An exception of sample() leaves the engine where it stood before
/// the call where whole() says so.
class Engine {
 public:
  /// The share of this process, as `peers` deals it; they and the plan must outlive it. Makes envs,
  /// threads and buffers; sets libtorch to one intra-op thread. Throws ConfigError for a device or
  /// an instruction set that is not there.
  /// With a carrier, which must outlive it, the envs are elsewhere, and it only learns.
  explicit Engine(const RunPlan& plan, Peers& peers = alone(), Carrier* carrier = nullptr);
  ~Engine();

  /// Up to `num_steps` more steps of every env; true when the rollout is full.
  bool sample(std::int64_t num_steps);
  /// Learns from the full rollout and starts the next one. `done` is how much of the run was over
  /// when the rollout began, for schedules; where the steps tell more, they count.
  /// With async.max_lag = L the learner works beside the sampler: the metrics are those of the
  /// rollout L before this one, none for the first L, and the next one is sampled by that version.
  Metrics update(double done = 0);
  /// Rollouts that were handed to the learner and of which update() has not told.
  [[nodiscard]] std::int64_t num_behind() const;
  /// The oldest of them, once it is learnt; the sampler goes on with its version.
  Metrics catch_up();
  /// Waits for a learner beside the sampler to be idle; what it threw is told by update().
  void rest() noexcept;

  /// Whether its state is one that a run can go on from. It is not after a failed update, nor after
  /// envs in other processes have failed for good.
  [[nodiscard]] bool whole() const;
  /// What updates skipped since the last call; also after one has thrown.
  std::vector<SkippedMinibatch> take_skipped();

  /// How the engine runs, none of which changes results. What the config leaves to "auto" is
  /// measured during the first updates, and again now and then.
  struct Tuning {
    std::size_t threads = 1;
    std::size_t block = 0;    // envs of a block; 0: whole shards
    std::string measurement;  // what was measured when the last choice was made; empty: nothing
    int choices = 0;          // made so far
  };
  [[nodiscard]] Tuning tuning() const;
  /// CPU seconds that this process and those of the envs have used so far.
  [[nodiscard]] double cpu_used_s() const;
  [[nodiscard]] bool fused() const;  // the learner runs without a graph
  /// Seconds that a learner beside the sampler has waited for rollouts; none where they take turns.
  [[nodiscard]] std::optional<double> learner_idle_s() const;

  [[nodiscard]] std::int64_t timesteps() const;    // over all envs, since the run began
  [[nodiscard]] std::int64_t num_updates() const;  // that update() and catch_up() have told of
  /// Steps of every env still missing in the rollout in flight.
  [[nodiscard]] std::int64_t steps_left() const;
  /// The parts; they live as long as the engine. Stepping them by hand spoils the run.
  [[nodiscard]] FragmentSource& source();
  [[nodiscard]] VecEnv& envs();
  [[nodiscard]] const VecEnv& envs() const;
  /// The newest version of the policy, of all rollouts that were handed to the learner, with the
  /// normaliser as it is.
  [[nodiscard]] std::shared_ptr<const PolicyModel> model() const;
  /// The same with what the envs have learnt.
  [[nodiscard]] Player player() const;
  [[nodiscard]] ThreadPool& pool();

  /// XXH3 of all weights, by name.
  [[nodiscard]] std::string digest() const;

  /// A copy of everything that makes up the run.
  struct Snapshot;
  /// What this process has, into a snapshot, whose memory is used again: the second one costs
  /// little more than copying.
  void snapshot(Snapshot& into) const;
  /// Takes weights and normaliser of another run, and nothing else: this one's steps begin at 0,
  /// with its own envs and a new optimiser. Throws DataError when the networks differ.
  void start_from(const Checkpoint& checkpoint);
  /// Weights by name; those that are not named stay. Throws UsageError for a name or a shape that
  /// the network does not have. Not in the middle of a rollout.
  void set_weights(const std::map<std::string, at::Tensor>& weights);
  /// Of a checkpoint of all envs, the rows of this process's.
  /// Throws DataError when the checkpoint is not of this config.
  /// After a failure the engine is good for nothing but to be destroyed.
  void restore(const Checkpoint& checkpoint);

 private:
  struct Parts;
  void restore_versions(const Checkpoint& checkpoint,
                        const std::map<std::string, std::int64_t>& counters);
  std::unique_ptr<Parts> parts_;
};

/// Whether a checkpoint is of a run whose samplers were in other processes. Without them an engine
/// can take its policy, but not go on with it.
bool samples_elsewhere(const Checkpoint& checkpoint);

/// Owns all its bytes: the engine may move on, and another thread may write it meanwhile.
struct Engine::Snapshot {
  struct Entry {
    std::string file;  // of the checkpoint: "model", "optim" or "envs"
    std::string name;
    std::int64_t env_dim = -1;  // along which processes have their own rows; -1: all have the same
    at::Tensor tensor;          // on the CPU, as it lies in the engine's memory
    at::Tensor rows;            // the same by rows, once data() was called
  };
  std::vector<Entry> tensors;
  std::vector<std::byte> env_bytes;
  std::vector<std::byte> shared_bytes;
  std::string counters;  // of the engine, a JSON object

  /// The tensors by rows; views of the snapshot, which must stay. `state` is left empty. Throws
  /// Error when a number of the policy or of its optimiser is not finite: such a checkpoint would
  /// be good for nothing.
  [[nodiscard]] CheckpointData data();
};

/// The policy of a plan, before its first update: network, shards' replicas, device. Sets this
/// thread to one intra-op thread and the kernels' instruction set.
Policy make_policy(const RunPlan& plan, const EnvSpec& spec, std::size_t num_shards);

/// The device that config.device names; ConfigError with the remedy when it is not there.
at::Device device_of(const std::string& name);

/// The config's threads; all cores where it leaves them open.
std::size_t threads_of(const RunPlan& plan);

/// Makes this thread and every thread of the pool compute with one intra-op thread.
void use_one_torch_thread();

}  // namespace penstock
