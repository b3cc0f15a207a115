#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking {

/// What one day of booking came to under some policy.
struct DayScore {
  double reward = 0;          // undiscounted, in the evaluation's unit
  Cost cost = 0;              // of the final plan
  Cost driven_s = 0;          // time on the road of the final plan
  Cost out_s = 0;             // from leaving the depot, just in time, to coming back
  std::int32_t vehicles = 0;  // that leave the depot
  std::int32_t requests = 0;
  std::int32_t offers = 0;       // that ask for a change
  std::int32_t taken = 0;        // of these
  std::int32_t minutes = 0;      // that customers gave, in all
  std::int32_t unserved = 0;     // fitted nowhere
  std::int32_t lost = 0;         // refused and left
  std::int32_t known_types = 0;  // requests whose customer's likeliest type was the true one
  double ride_ratio = 0;         // time aboard by direct time, mean over served rides; 0: no rides

  [[nodiscard]] std::int32_t served() const { return requests - unserved - lost; }
};

/// Of a mean, by the normal approximation.
struct Interval {
  double mean = 0;
  double low = 0;
  double high = 0;
};

using Number = std::function<double(const DayScore&)>;

/// The mean of a number over days, and its 95 % interval.
Interval mean_of(std::span<const DayScore> days, const Number& number);
/// The mean difference on the same days, and its 95 % interval: far narrower than those of the two.
Interval paired_difference(std::span<const DayScore> days, std::span<const DayScore> versus,
                           const Number& number);

/// A policy's days and how long it took to decide.
struct PolicyScore {
  std::string name;
  std::vector<DayScore> days;
  double decision_p50_us = 0;
  double decision_p99_us = 0;
};

/// The value below which a share of the numbers lies; sorts them.
double quantile(std::vector<double>& numbers, double share);

/// Sums up a final plan: cost, seconds on the road and out, vehicles, ride ratio.
void score_plan(const Instance& instance, const Plan& plan, DayScore& score);

}  // namespace penstock::booking
