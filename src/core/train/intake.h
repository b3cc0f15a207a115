#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/train/fragment_message.h"
#include "penstock/core/rollout/fragment_source.h"
#include "penstock/core/train/carrier.h"

namespace penstock::detail {

/// Joins fragments that samplers in other processes have filled into those of a learner, in the
/// order of their arrival, whoever they are of: one is full when as many have arrived as there are
/// seats. A sampler that is slow or gone holds nobody up.
///
/// Each fragment is taken once. One that is more than `max_lag` versions behind when its turn comes
/// is dropped and counted.
class Intake final : public FragmentSource {
 public:
  /// Carrier and buffer outlive it. Throws ConfigError when the envs cannot be dealt to the seats.
  Intake(Carrier& carrier, Fragment& buffer, std::int64_t max_lag);

  void adopt(const std::shared_ptr<const PolicyModel>& model) override;
  /// Waits for a part of a second at most.
  void advance(std::int64_t num_steps) override;
  [[nodiscard]] bool whole() const override { return true; }
  [[nodiscard]] std::int64_t position() const override { return full_ ? buffer_->num_steps() : 0; }
  [[nodiscard]] bool full() const override { return full_; }
  void finish() override {}
  void restart(Fragment& into) override;

  [[nodiscard]] std::int64_t steps_per_env() const override { return steps_per_env_; }
  std::vector<EpisodeEnd> take_episodes() override { return std::exchange(episodes_, {}); }
  std::int64_t take_discarded() override { return std::exchange(discarded_, 0); }
  std::vector<Incident> take_incidents() override { return std::exchange(incidents_, {}); }
  SampleTime take_time() override { return std::exchange(time_, {}); }
  /// async/dropped and async/repeated, since the run began; async/seats, of the last fragment.
  [[nodiscard]] Metrics metrics() const override;
  [[nodiscard]] const ObsNormaliser& obs_normaliser() const override { return none_; }

  /// Asks the samplers.
  [[nodiscard]] State save() override;
  void load(const State& state) override;

 private:
  struct Message {
    FragmentLabel label;
    std::vector<std::byte> bytes;
  };
  /// The last one that was taken of a seat.
  using Place = std::pair<std::int64_t, std::int64_t>;  // epoch, number
  struct Saved;

  bool fetch(std::chrono::milliseconds wait);
  void accept(std::vector<std::byte> bytes);
  void take_up(FragmentLabel& label);
  void drop_old();
  void join();

  Carrier& carrier_;
  Fragment* buffer_;
  std::int64_t max_lag_;
  std::int64_t num_envs_;  // of a seat
  std::int64_t version_ = 0;
  std::deque<Message> arrived_;
  std::vector<Place> taken_;  // by seat
  bool full_ = false;
  std::int64_t steps_per_env_ = 0;
  std::int64_t num_taken_ = 0;  // that the carrier has handed over
  std::int64_t dropped_ = 0;
  std::int64_t repeated_ = 0;
  std::int64_t seats_ = 0;
  std::vector<EpisodeEnd> episodes_;
  std::vector<Incident> incidents_;
  std::int64_t discarded_ = 0;
  SampleTime time_;
  ObsNormaliser none_;
};

}  // namespace penstock::detail
