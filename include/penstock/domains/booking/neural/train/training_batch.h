#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/domains/booking/neural/construction.h"
#include "penstock/domains/booking/neural/task.h"

namespace penstock::booking {

// Shapes: B tasks, N tokens, T steps.

/// Tasks of one size and the steps of constructions of them, as arrays: what a network is shown,
/// and what was chosen.
struct TrainingBatch {
  std::int64_t tasks = 0;
  std::int64_t tokens = 0;
  std::int64_t steps = 0;
  std::vector<float> nodes;          // [B, N, kNodeFeatures]
  std::vector<float> edges;          // [B, N, N, kEdgeFeatures]
  std::vector<float> context;        // [B, T, kContextFeatures]
  std::vector<float> choices;        // [B, T, N, kChoiceFeatures]
  std::vector<float> closed;         // [B, T, N]: 0 where open, else -1e30
  std::vector<float> forbidden;      // [B, T, N]: 0 where allowed, else -1e30
  std::vector<std::int64_t> here;    // [B, T]
  std::vector<std::int64_t> chosen;  // [B, T]
  std::vector<float> weight;         // [B, T]: of the choice's log-probability; 0 past the end
};

/// A sequence of tokens and what its log-probability is to be multiplied by.
struct Sequence {
  std::vector<std::int32_t> tokens;
  float weight = 1;
};

/// A task, its sequences, and how it is turned (see write_nodes).
struct BatchTask {
  const Task* task = nullptr;
  std::vector<Sequence> sequences;
  std::int32_t flip = 0;
};

/// All tasks have the same number of tokens and of sequences. A sequence is cut off before the
/// first token that a Construction does not allow.
TrainingBatch make_training_batch(std::span<const BatchTask> tasks);

/// A plan as a sequence: routes in the order in which their first stops can be served, since one
/// order is easier to learn than all.
Sequence sequence_of(const Task& task, const Plan& plan);

}  // namespace penstock::booking
