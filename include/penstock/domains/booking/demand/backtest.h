#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "penstock/domains/booking/demand/log.h"
#include "penstock/domains/booking/selling/seller.h"

namespace penstock::booking::demand {

/// A network that is judged too, and what it sells by.
struct Trained {
  selling::Seller& seller;
  selling::Forecast forecast;
};

struct BacktestConfig {
  std::int32_t draws = 20;     // of worths and answers, for each policy
  std::int64_t improve = 200;  // rounds of search for each plan at the end of a day of calls
  double learn = 0.33;         // the share of days that is only learnt from
  std::uint64_t seed = 1;
};

/// A mean with its 95 % interval over days.
struct PerDay {
  double mean = 0;
  double low = 0;
  double high = 0;
};

/// What a policy would have earned on the calls as they met the logged plans, each by itself: by
/// the model, and by the calls that were shown what it would have shown, weighted by how rarely
/// that happened.
struct OffPolicy {
  PerDay direct;
  PerDay weighted;
  PerDay difference;         // direct less weighted
  double effective = 0;      // calls that the weighted estimate is worth
  std::int64_t matched = 0;  // calls that were shown the same
};

struct PolicyResult {
  std::string name;
  PerDay earned;               // revenue and fees less what routes cost
  std::optional<PerDay> gain;  // over what was earned
  double bookings = 0;         // a day
  double calls = 0;            // a day
  double km = 0;               // a day
  double unseen = 0;           // share of the slots it shows whose time of day was not shown before
  double untold = 0;           // and whose fee is beyond those that were asked before
  std::optional<OffPolicy> check{};  // where the log tells propensities
};

struct Backtest {
  std::int64_t days = 0;
  std::int64_t scored = 0;  // of these
  std::int64_t calls = 0;
  Fit fit;                             // to all answers, as if all customers were alike
  Tastes tastes;                       // as many as the answers tell
  std::vector<PolicyResult> policies;  // what was done comes first
  /// What the model says of the menus that were shown, less what they earned.
  PerDay bias;
  std::vector<std::string> warnings;
};

/// Replays a log day by day. The answer model of a day is fitted to the answers of earlier days;
/// the same calls are then answered by that model under each policy. Throws DataError when there
/// are too few days. The same for the same log, fleet and config.
Backtest backtest(const std::vector<LoggedCall>& calls, const dispatch::Problem& fleet,
                  const BacktestConfig& config, const Trained* trained = nullptr);

std::string backtest_json(const Backtest& told);
std::string backtest_table(const Backtest& told);

}  // namespace penstock::booking::demand
