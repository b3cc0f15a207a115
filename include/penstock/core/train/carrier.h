#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "penstock/core/act/policy_model.h"

namespace penstock {

/// Where a sampler in another process stands, between two fragments.
struct SamplerState {
  std::int64_t seat = 0;
  std::int64_t epoch = 0;        // how often the seat was taken anew: envs then begin anew
  std::int64_t number = 0;       // fragments filled in this epoch
  std::vector<std::byte> bytes;  // RemoteSampler::save(); empty: it begins anew in this epoch
};

/// What joins a learner to samplers in other processes, or on other machines. It decides where they
/// run, starts them anew when they die, and hands over what they fill; RemoteSampler is what runs
/// there. A run has a fixed number of seats, each of which samples its own envs; how many of them
/// are taken at a time does not matter.
///
/// All calls come from one thread, that of the run.
class Carrier {
 public:
  virtual ~Carrier() = default;
  [[nodiscard]] virtual std::size_t num_seats() const = 0;
  /// A fragment that RemoteSampler::fill() has made, in the order of their arrival; empty when none
  /// arrives within `wait`. Samplers are kept at work.
  virtual std::vector<std::byte> next(std::chrono::milliseconds wait) = 0;
  /// Fragments that are begun from now on are sampled by it.
  virtual void publish(const PolicyModel& model) = 0;
  /// Of every seat that was ever taken, once its sampler has filled what it had begun. What arrived
  /// meanwhile comes by next() with no wait. They go on when next() waits again.
  virtual std::vector<SamplerState> save() = 0;
  /// Before the first next(), which has handed over `num_taken` fragments in the sittings before.
  virtual void load(const std::vector<SamplerState>& states, std::int64_t num_taken) = 0;
};

}  // namespace penstock
