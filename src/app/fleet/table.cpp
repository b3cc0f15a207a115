#include <algorithm>
#include <array>
#include <cmath>

#include "penstock/app/fleet/fleet.h"

namespace penstock::fleet {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// The 97.5 % quantile of Student's t.
double t_quantile(std::size_t freedom) {
  constexpr std::array<double, 30> kTable = {
      12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.30600, 2.26216, 2.22814,
      2.20099, 2.17881, 2.16037, 2.14479, 2.13145, 2.11991, 2.10982, 2.10092, 2.09302, 2.08596,
      2.07961, 2.07387, 2.06866, 2.06390, 2.05954, 2.05553, 2.05183, 2.04841, 2.04523, 2.04227};
  if (freedom <= kTable.size()) { return kTable[freedom - 1]; }
  // Cornish and Fisher's expansion around the normal quantile: right to 1e-5 from here on.
  const double z = 1.959963984540054;
  const double n = static_cast<double>(freedom);
  const double z3 = z * z * z;
  const double z5 = z3 * z * z;
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n);
}

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
  double sum = 0;
  for (const double score : scores) { sum += score; }
  row.mean = sum / n;
  if (n < 2) { return row; }
  double squares = 0;
  for (const double score : scores) { squares += (score - row.mean) * (score - row.mean); }
  const double half = t_quantile(n - 1) * std::sqrt(squares / (n - 1) / n);
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
