#include <algorithm>
#include <cmath>

#include "penstock/app/fleet/fleet.h"
#include "penstock/core/base/student.h"

namespace penstock::fleet {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Row row_of(const std::string& cell, std::vector<double> scores) {
  Row row{.cell = cell,
          .count = static_cast<std::int64_t>(scores.size()),
          .mean = kNone,
          .low = kNone,
          .high = kNone,
          .median = kNone};
  if (scores.empty()) { return row; }
  std::ranges::sort(scores);
  const std::size_t n = scores.size();
  row.median = (scores[(n - 1) / 2] + scores[n / 2]) / 2;
  const Estimate all = estimate(scores);
  row.mean = all.mean;
  if (n < 2) { return row; }
  const double half = student_quantile(n - 1) * all.std_error;
  row.low = row.mean - half;
  row.high = row.mean + half;
  return row;
}

}  // namespace

std::vector<Row> table(const Fleet& fleet, const std::vector<Entry>& entries) {
  const Stage last = fleet.config().rungs.size();
  std::vector<Row> rows;
  for (std::size_t cell = 0; cell < fleet.cells().size(); ++cell) {
    std::vector<double> scores;
    std::int64_t failed = 0;
    for (const Entry& entry : entries) {
      if (fleet.cell_of(entry.trial) != cell) { continue; }
      if (entry.exit != 0) { ++failed; }
      const bool counts = entry.exit == 0 && entry.stage == last && std::isfinite(entry.score);
      if (counts) { scores.push_back(entry.score); }
    }
    rows.push_back(row_of(label_of(fleet.cells()[cell]), std::move(scores)));
    rows.back().failed = failed;
  }
  return rows;
}

}  // namespace penstock::fleet
