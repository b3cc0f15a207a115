#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "penstock/core/train/config.h"

namespace penstock {

/// One of the samplers that feed a learner in another process: the envs of a seat, and a policy
/// that acts by the weights it is given. What carries fragments and weights is a Carrier's matter.
///
///     RemoteSampler sampler(plan, {.number = 2, .of = 4, .epoch = 0});
///     sampler.adopt(weights, version);
///     send(sampler.fill());
///
/// What a fragment holds is a function of the plan, the seat and the versions adopted before each
/// fragment. Not thread-safe.
class RemoteSampler {
 public:
  struct Seat {
    std::size_t number = 0;
    std::size_t of = 1;      // seats of the run
    std::int64_t epoch = 0;  // of a seat that is taken anew: its envs begin other episodes
  };

  /// The plan must outlive it. Makes envs and threads. Throws ConfigError.
  RemoteSampler(const RunPlan& plan, const Seat& seat);
  ~RemoteSampler();

  /// Floats that make up a version of the policy.
  [[nodiscard]] std::size_t num_weights() const;
  /// Between fragments. Throws DataError when their number is another.
  void adopt(std::span<const float> weights, std::int64_t version);
  /// The next fragment, as Carrier::next() hands it over. Throws what envs throw.
  std::vector<std::byte> fill();

  /// Where it stands between fragments, its envs included.
  [[nodiscard]] std::vector<std::byte> save() const;
  /// Throws DataError when the state is of another config or seat.
  void load(std::span<const std::byte> state);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace penstock
