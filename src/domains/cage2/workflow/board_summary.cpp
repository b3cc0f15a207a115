#include "penstock/domains/cage2/workflow/board_summary.h"

#include <algorithm>
#include <cmath>

#include "penstock/core/base/random.h"
#include "penstock/core/base/student.h"

namespace penstock::cage2 {
namespace {

/// Half of Student's 95 % interval of the mean.
double student_half(std::span<const double> totals) {
  return student_quantile(totals.size() - 1) * estimate(totals).std_error;
}

/// The percentiles of the interquartile means of runs drawn with replacement.
void bootstrap(std::span<const double> totals, BoardSummary& summary) {
  constexpr std::size_t kDraws = 10'000;
  constexpr std::size_t kTail = kDraws / 40;  // 2.5 %
  Random random({.seed = 0, .stream = Stream::evaluate});
  const auto size = static_cast<std::uint32_t>(totals.size());
  std::vector<double> means(kDraws);
  std::vector<double> drawn(totals.size());
  for (double& mean : means) {
    for (double& total : drawn) { total = totals[random.below(size)]; }
    mean = interquartile_mean(drawn);
  }
  std::ranges::sort(means);
  summary.low = means[kTail];
  summary.high = means[kDraws - 1 - kTail];
}

}  // namespace

double interquartile_mean(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t cut = values.size() / 4;
  return estimate(std::span(values).subspan(cut, values.size() - 2 * cut)).mean;
}

BoardSummary summarise(std::span<const Board> boards) {
  std::vector<double> totals;
  for (const Board& board : boards) { totals.push_back(board.total); }
  BoardSummary summary{.total = estimate(totals).mean, .iqm = interquartile_mean(totals)};
  if (boards.size() >= kBootstrapRuns) {
    summary.interval_of = IntervalOf::iqm;
    bootstrap(totals, summary);
    return summary;
  }
  constexpr double kNormal = 1.959964;
  const bool alone = boards.size() == 1;
  const double half = alone ? kNormal * boards[0].std_error : student_half(totals);
  summary.low = summary.total - half;
  summary.high = summary.total + half;
  summary.interval_of = alone ? IntervalOf::episodes : IntervalOf::mean;
  return summary;
}

std::vector<AuditSummary> summarise_audits(std::span<const Board> boards) {
  std::vector<AuditSummary> rows;
  const auto n = static_cast<double>(boards.size());
  for (std::size_t i = 0; i < boards[0].audit.size(); ++i) {
    const AuditRow& first = boards[0].audit[i];
    AuditSummary row{.change = first.change, .least = first.owed, .most = first.owed};
    for (const Board& board : boards) {
      const AuditRow& each = board.audit[i];
      row.total += each.total / n;
      row.owed += each.owed / n;
      row.std_error = std::hypot(row.std_error, each.std_error / n);
      row.least = std::min(row.least, each.owed);
      row.most = std::max(row.most, each.owed);
      row.differing += each.differing;
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace penstock::cage2
