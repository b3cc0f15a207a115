#pragma once
#include "penstock/domains/cage2/sim/workflow_job.h"

namespace penstock::cage2 {

/// A workflow's result without training: a known value of the order plus noise of the job's seed,
/// with synthetic curves. For tests of the search and for looking at a report.
struct Synthetic {
  std::uint64_t landscape = 1;  // which made-up world
  double noise = 1.0;           // standard error of a return
  double delay_s = 0;           // slept for each evaluation
  bool all_comply = false;      // else some orders never do

  /// Without the noise: what the search is to find out.
  [[nodiscard]] double value_of(const Order& order) const;
  WorkflowResult operator()(const WorkflowJob& job) const;
};

}  // namespace penstock::cage2
