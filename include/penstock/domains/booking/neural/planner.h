#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "penstock/core/base/random.h"
#include "penstock/domains/booking/neural/construction.h"
#include "penstock/domains/booking/neural/model.h"
#include "penstock/domains/booking/neural/task.h"

namespace penstock::booking {

class PackedModel;

/// Lays a model's weights out for a planner. Immutable: threads share it.
std::shared_ptr<const PackedModel> pack(const Model& model);

/// Plans tasks by the network, without torch. Tasks are encoded in blocks that fit a core's cache
/// and constructed one by one, with keys and values computed once; nothing is padded to the
/// largest. A task's result is a function of (weights, task, flip) to the last bit, whatever is
/// encoded with it; other instruction sets may round otherwise. One thread at a time; memory is
/// kept.
class Planner {
 public:
  explicit Planner(std::shared_ptr<const PackedModel> model);
  ~Planner();
  Planner(Planner&&) noexcept;
  Planner& operator=(Planner&&) noexcept;

  /// How many of the tasks, from the first, make a block of a good size; at least 1.
  static std::size_t block_of(std::span<const Task* const> tasks);

  /// The tasks are used until the next call. `flip` as in write_nodes().
  void encode(std::span<const Task* const> tasks, std::int32_t flip = 0);
  /// Constructs a plan of encoded task i: the likeliest step each time, or with `random` a step by
  /// its likelihood. Ends when done or stuck.
  void construct(std::size_t i, Construction& plan, Random* random = nullptr);

  /// For tests: the log-probabilities of all tokens at the state of a construction of task i; what
  /// is not allowed has -1e30.
  std::span<const float> log_probabilities(std::size_t i, const Construction& plan);

 private:
  class Workspace;
  std::shared_ptr<const PackedModel> model_;
  std::unique_ptr<Workspace> work_;
};

}  // namespace penstock::booking
