#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/algo/gradients.h"
#include "penstock/core/algo/learner.h"

namespace penstock::detail {

/// A minibatch as it was learnt from, for skipped_minibatch().
struct MinibatchRows {
  const Fragment& rollout;
  const Targets& targets;
  std::vector<std::int64_t> samples;  // t * N + n each, of all shards of this process
  double advantage_mean = 0;
  double advantage_scale = 1;
  UpdateSums loss;  // of the minibatch alone
};

/// Copies the rows.
SkippedMinibatch skipped_minibatch(const MinibatchRows& rows, std::int64_t update,
                                   std::int64_t minibatch);

/// Minibatches that were not learnt from: counts them, keeps the first ones to be looked at, and
/// says when there were too many in a row.
class SkippedMinibatches {
 public:
  /// `algorithm` is the section of its keys.
  SkippedMinibatches(std::int64_t most_in_a_row, std::string algorithm)
      : most_in_a_row_(most_in_a_row), algorithm_(std::move(algorithm)) {}

  /// A minibatch was learnt from.
  void made() { in_a_row_ = 0; }
  /// One was skipped. Throws Error with the remedies when it is one too many.
  void add(const MinibatchRows& rows, std::int64_t update, std::int64_t minibatch);

  [[nodiscard]] std::int64_t total() const { return total_; }
  /// train/skipped_minibatches, once there was one.
  void report(Metrics& metrics) const;
  std::vector<SkippedMinibatch> take() { return std::exchange(kept_, {}); }

 private:
  std::int64_t most_in_a_row_;
  std::string algorithm_;
  std::int64_t in_a_row_ = 0;
  std::int64_t total_ = 0;
  std::vector<SkippedMinibatch> kept_;
};

}  // namespace penstock::detail
