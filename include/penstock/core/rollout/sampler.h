#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "penstock/core/act/actor.h"
#include "penstock/core/base/thread_pool.h"
#include "penstock/core/env/vec_env.h"
#include "penstock/core/peers/peers.h"
#include "penstock/core/rollout/fragment_source.h"
#include "penstock/core/rollout/shards.h"

namespace penstock {

/// Fills fragments: a block of envs steps and its next actions are chosen on the same thread,
/// with no barrier between threads until the segment's end. A block is a shard, or, where the
/// policy computes each row alone, a part of one whose envs stay in the core's cache. Actions are a
/// function of (seed, env, step), so threads and segment lengths cannot matter.
///
///     sampler.advance(64);                              // a rollout, or a part of it
///     if (sampler.full()) { sampler.finish(); learn(buffer); sampler.restart(); }
///
/// Not thread-safe: one caller, which owns the pool meanwhile.
class Sampler final : public FragmentSource {
 public:
  struct Options {
    std::uint64_t seed = 0;      // of the actions drawn
    bool normalise_obs = false;  // rows of the fragment are then normalised, in place
    double clip_obs = 10;        // bound of a normalised feature, in deviations
  };

  /// `actors`: one per shard.
  /// It owns the actors; all that is given by reference must outlive it. Envs are reset by the
  /// first advance().
  Sampler(VecEnv& envs, std::vector<std::unique_ptr<Actor>> actors, const Shards& shards,
          Fragment& buffer, ThreadPool& pool, Peers& peers, const Options& options);
  ~Sampler() override;

  void adopt(const std::shared_ptr<const PolicyModel>& model) override;

  /// Up to `num_steps` more steps of every env, at most to the end of the buffer. Throws DataError
  /// naming env and step when an env hands over something not finite, and what envs throw. The
  /// sampler and its envs then stand where they stood before the call, if whole().
  void advance(std::int64_t num_steps) override;
  /// False once envs in other processes have failed in advance(): their state is lost.
  [[nodiscard]] bool whole() const override { return whole_; }
  [[nodiscard]] bool full() const override { return position_ == buffer_->num_steps(); }
  [[nodiscard]] std::int64_t position() const override { return position_; }

  /// The values of the last rows, and the normaliser's merge; the fragment is then whole.
  /// Call it when the rollout is full, before the learner.
  void finish() override;
  /// Starts the next rollout where the last one ended, in a fragment of the same shape: the same
  /// one, or another while the last is learnt from.
  /// Call it after finish(): the first row is normalised anew.
  void restart(Fragment& into) override;
  void restart() { restart(*buffer_); }

  /// How many envs go through a segment together; 0 or too many: the whole shard. Without effect
  /// where blocks would change results.
  void set_block(std::size_t size);
  /// Whether blocks smaller than a shard give the same bits.
  [[nodiscard]] bool can_split() const {
    return independent_rows_ && !options_.normalise_obs && envs_.async() == nullptr;
  }

  [[nodiscard]] std::int64_t steps_per_env() const override { return steps_per_env_; }
  /// In the order of (shard, step, env).
  std::vector<EpisodeEnd> take_episodes() override;
  std::int64_t take_discarded() override;
  std::vector<Incident> take_incidents() override { return envs_.take_incidents(); }
  SampleTime take_time() override;

  [[nodiscard]] const ObsNormaliser& obs_normaliser() const override { return obs_normaliser_; }
  /// What another run has seen of the observations counts as seen. Before the first step.
  void begin_with(std::vector<Moments> moments) { obs_normaliser_.set_moments(std::move(moments)); }

  [[nodiscard]] State save() override;
  void load(const State& state) override;

 private:
  struct Shard;
  struct Mark;

  void set_mark();
  void return_to_mark();
  void advance_to(std::int64_t end);
  void begin();
  void fill_first_row();
  void run_blocks(Shard& shard, std::int64_t end);
  void interleave(std::size_t lane, std::size_t lanes, std::int64_t end);
  void act(Shard& shard, EnvRange block, std::int64_t t);
  ActionRows env_actions(const Shard& shard, EnvRange block, std::int64_t t) const;
  OutcomeRows outcome_rows(Shard& shard, EnvRange block, std::int64_t t);
  void record_step(Shard& shard, EnvRange block, std::int64_t t);
  void note_episodes(Shard& shard, EnvRange block, std::int64_t t);
  void check_and_normalise(Shard& shard, EnvRange block, std::int64_t t);
  void value_truncated(Shard& shard, EnvRange block, std::int64_t t);

  VecEnv& envs_;
  Fragment* buffer_;  // the rollout in flight
  ThreadPool& pool_;
  Peers& peers_;
  Options options_;
  std::size_t first_env_;     // the number in the run of env 0
  std::size_t total_shards_;  // of the run
  bool independent_rows_;
  std::vector<Shard> shards_;
  ObsNormaliser obs_normaliser_;
  at::Tensor carry_obs_;    // [N, F] raw
  at::Tensor carry_legal_;  // [N, A]
  std::int64_t position_ = 0;
  std::int64_t steps_per_env_ = 0;
  bool begun_ = false;
  bool whole_ = true;
  std::unique_ptr<Mark> mark_;
};

}  // namespace penstock
