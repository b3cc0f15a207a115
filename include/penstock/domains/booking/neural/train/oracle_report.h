#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/core/base/thread_pool.h"
#include "penstock/domains/booking/neural/planner.h"
#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking {

/// How many days, and of what size.
struct OracleReportOptions {
  std::vector<std::int32_t> sizes = {20, 30, 50};  // requests
  std::int64_t days = 100;                         // of each size and mode
  std::int64_t questions = 100;  // requests of each mode whose 16 offers are ranked
  double seconds = 2;            // of each measurement of speed; 0: none
  std::uint64_t seed = 1'000'000;
};

/// Whole days, planned at once by the network and request by request by rr-1000.
struct SizeScore {
  Mode mode = Mode::ride;
  std::int32_t requests = 0;
  std::int64_t days = 0;
  double reference_km = 0;  // rr-1000
  double gap = 0;           // of the network's cost, dead ends repaired
  double gap_of_eight = 0;  // of the best of eight flips
  double gap_of_day = 0;    // of neural+insertion, request by request
  double first_try = 0;     // share of the days that met no dead end
  double without_help = 0;  // share of those that the network planned in at most eight tries
  double feasible = 0;      // share of the days whose plan the checker passes, after repair
};

/// Spearman's rank correlation of the 16 offers' costs with those of rr-200, mean over requests.
struct RankScore {
  Mode mode = Mode::ride;
  std::int64_t questions = 0;
  double neural = 0;
  double neural_of_eight = 0;
  double neural_or_insertion = 0;
  double insertion = 0;
  double other_seed = 0;  // rr-200 once more
  double longer = 0;      // rr-1000
};

/// Days of 30 requests that one thread plans in a second of processor time.
struct SpeedScore {
  Mode mode = Mode::ride;
  std::int64_t batch = 0;
  double per_second = 0;
};

/// What report_oracle() found.
struct OracleReport {
  std::vector<SizeScore> sizes;
  std::vector<RankScore> ranks;
  std::vector<SpeedScore> speeds;
  [[nodiscard]] std::string text() const;
  /// One line.
  [[nodiscard]] std::string json() const;
};

/// Days of `city` and `delivery` that no training has seen; all but the speeds is a function of the
/// model and the options.
OracleReport report_oracle(const std::shared_ptr<const PackedModel>& model, ThreadPool& pool,
                           const OracleReportOptions& options);

/// Mean ranks for ties. 0 when either list is all the same.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace penstock::booking
