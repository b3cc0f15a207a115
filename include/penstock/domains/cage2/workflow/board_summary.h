#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/domains/cage2/workflow/leaderboard.h"

namespace penstock::cage2 {

/// What the 95 % interval of a BoardSummary is of.
enum class IntervalOf : std::uint8_t {
  episodes,  // one run: of its total over other episodes; says nothing about other training seeds
  mean,      // fewer than kBootstrapRuns: of the mean over training seeds, by Student's t
  iqm,       // of the interquartile mean over training seeds, by the bootstrap
};

/// Boards of several training runs of one kind together. Intervals over seeds take the runs for
/// independent draws.
struct BoardSummary {
  double total = 0;  // the mean of the totals
  double iqm = 0;    // the interquartile mean of the totals
  double low = 0;
  double high = 0;
  IntervalOf interval_of = IntervalOf::episodes;
};
constexpr std::size_t kBootstrapRuns = 10;

/// `boards` is not empty. The bootstrap draws from a seed of its own: the same boards, the same
/// interval.
BoardSummary summarise(std::span<const Board> boards);

/// The mean without the highest and the lowest quarter of the values, rounded down: of fewer than
/// four values their mean. `values` is not empty.
double interquartile_mean(std::vector<double> values);

/// An audit's row over several runs.
struct AuditSummary {
  RuleChange change;
  double total = 0;  // means over the runs
  double owed = 0;
  double std_error = 0;  // of `owed`, of the episodes
  double least = 0;      // of what a run owes
  double most = 0;
  std::int64_t differing = 0;  // of the games of all
};
/// Row by row; the boards have the same rows.
std::vector<AuditSummary> summarise_audits(std::span<const Board> boards);

}  // namespace penstock::cage2
