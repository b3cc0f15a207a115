#include <fmt/format.h>
#include <fmt/ranges.h>

#include "penstock/domains/booking/neural/train/oracle_report.h"

namespace penstock::booking {
namespace {

template <class Rows, class Line>
std::vector<std::string> lines_of(const Rows& rows, const Line& line) {
  std::vector<std::string> lines;
  lines.reserve(rows.size());
  for (const auto& row : rows) { lines.push_back(line(row)); }
  return lines;
}

}  // namespace

std::string OracleReport::text() const {
  std::string out =
      sizes.empty()
          ? ""
          : fmt::format("{:8} {:>4} {:>5} {:>10} {:>7} {:>9} {:>12} {:>11} {:>13} {:>9}\n", "mode",
                        "n", "days", "rr-1000 km", "gap %", "best of 8", "day by day %",
                        "first try %", "eight tries %", "feasible");
  for (const SizeScore& x : sizes) {
    out += fmt::format(
        "{:8} {:>4} {:>5} {:>10.1f} {:>7.2f} {:>9.2f} {:>12.2f} {:>11.1f} {:>13.1f} {:>8.1f}%\n",
        to_string(x.mode), x.requests, x.days, x.reference_km, 100 * x.gap, 100 * x.gap_of_eight,
        100 * x.gap_of_day, 100 * x.first_try, 100 * x.without_help, 100 * x.feasible);
  }
  if (!ranks.empty()) {
    out += fmt::format(
        "\nrank correlation of 16 offers with rr-200\n{:8} {:>9} {:>7} {:>9} {:>10} {:>10} {:>12} "
        "{:>8}\n",
        "mode", "questions", "neural", "best of 8", "+insertion", "insertion", "rr-200 again",
        "rr-1000");
  }
  for (const RankScore& x : ranks) {
    out += fmt::format("{:8} {:>9} {:>7.3f} {:>9.3f} {:>10.3f} {:>10.3f} {:>12.3f} {:>8.3f}\n",
                       to_string(x.mode), x.questions, x.neural, x.neural_of_eight,
                       x.neural_or_insertion, x.insertion, x.other_seed, x.longer);
  }
  if (!speeds.empty()) {
    out += "\ndays of 30 requests per second of processor time, one thread\n";
  }
  for (const SpeedScore& x : speeds) {
    out += fmt::format("{:8} batch {:>3} {:>8.0f}\n", to_string(x.mode), x.batch, x.per_second);
  }
  return out;
}

std::string OracleReport::json() const {
  const auto size = [](const SizeScore& x) {
    return fmt::format(
        R"({{"mode": "{}", "requests": {}, "days": {}, "reference_km": {:.6g}, "gap": {:.6g}, )"
        R"("gap_of_eight": {:.6g}, "gap_of_day": {:.6g}, "first_try": {:.6g}, )"
        R"("without_help": {:.6g}, "feasible": {:.6g}}})",
        to_string(x.mode), x.requests, x.days, x.reference_km, x.gap, x.gap_of_eight, x.gap_of_day,
        x.first_try, x.without_help, x.feasible);
  };
  const auto rank = [](const RankScore& x) {
    return fmt::format(
        R"({{"mode": "{}", "questions": {}, "neural": {:.6g}, "neural_of_eight": {:.6g}, )"
        R"("neural_or_insertion": {:.6g}, "insertion": {:.6g}, "other_seed": {:.6g}, )"
        R"("longer": {:.6g}}})",
        to_string(x.mode), x.questions, x.neural, x.neural_of_eight, x.neural_or_insertion,
        x.insertion, x.other_seed, x.longer);
  };
  const auto speed = [](const SpeedScore& x) {
    return fmt::format(R"({{"mode": "{}", "batch": {}, "per_second": {:.6g}}})", to_string(x.mode),
                       x.batch, x.per_second);
  };
  return fmt::format(R"({{"sizes": [{}], "ranks": [{}], "speeds": [{}]}})",
                     fmt::join(lines_of(sizes, size), ", "), fmt::join(lines_of(ranks, rank), ", "),
                     fmt::join(lines_of(speeds, speed), ", "));
}

}  // namespace penstock::booking
