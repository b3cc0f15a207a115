#include "domains/booking/demand/warnings.h"

#include <fmt/format.h>

#include <algorithm>

namespace penstock::booking::demand {
namespace {

using Warnings = std::vector<std::string>;

bool excludes_zero(const PerDay& interval) { return interval.low > 0 || interval.high < 0; }

void warn_of_log(const LogGaps& gaps, Warnings& warnings) {
  if (gaps.refused > 0) {
    warnings.push_back(
        fmt::format("{} logged bookings do not fit the fleet and are left out: is it the fleet of "
                    "the log?",
                    gaps.refused));
  }
  if (gaps.answers_alike) {
    warnings.emplace_back(
        "everybody answers alike: the log cannot tell what makes customers say no");
  }
}

void warn_of_fees(const Fit& fit, const LogGaps& gaps, Warnings& warnings) {
  if (!fit.known[kFee]) {
    warnings.emplace_back(
        "fees never differ: what an incentive would do is not known, and none is given");
  }
  if (fit.known[kFee] && fit.worth[kFee] >= 0) {
    warnings.emplace_back(
        "customers seem to like fees: something that the log does not tell goes with them; no "
        "incentive is given");
  }
  if (gaps.cannot_sell) {
    warnings.emplace_back(
        "the policy is left out: on some days the log does not tell what fees do");
  }
}

void warn_of_model(const Backtest& told, const LogGaps& gaps, Warnings& warnings) {
  if (excludes_zero(told.bias)) {
    warnings.push_back(
        fmt::format("of the menus that were shown the model says {:+.2f} a day more than they "
                    "earned: take its other figures with that error",
                    told.bias.mean));
  }
  if (gaps.left_out > 0) {
    warnings.push_back(fmt::format(
        "calls have more than {} slots on their dates; the rest is left out", kMaxSlots));
  }
}

void warn_of_unseen(const PolicyResult& policy, Warnings& warnings) {
  if (policy.unseen > 0) {
    warnings.push_back(
        fmt::format("{}: {:.1f} % of the slots it shows are at times that nobody was shown "
                    "before: the log does not know what customers say to them",
                    policy.name, 100 * policy.unseen));
  }
  if (policy.untold > 0) {
    warnings.push_back(
        fmt::format("{}: {:.1f} % of the fees it asks are beyond those that were asked before: "
                    "the log does not know what customers say to them",
                    policy.name, 100 * policy.untold));
  }
}

void warn_of_check(const PolicyResult& policy, Warnings& warnings) {
  constexpr double kFewEffective = 30;
  if (policy.check->effective < kFewEffective) {
    warnings.push_back(
        fmt::format("{}: only {} calls were shown what it would show, worth {:.0f}: its figures "
                    "are the model's word",
                    policy.name, policy.check->matched, policy.check->effective));
  } else if (excludes_zero(policy.check->difference)) {
    warnings.push_back(
        fmt::format("{}: the model says {:+.2f} a day more than the calls that were shown the same",
                    policy.name, policy.check->difference.mean));
  }
}

}  // namespace

std::vector<std::string> warnings_of(const Backtest& told, const LogGaps& gaps) {
  Warnings warnings;
  warn_of_log(gaps, warnings);
  warn_of_fees(told.fit, gaps, warnings);
  warn_of_model(told, gaps, warnings);
  for (const PolicyResult& policy : told.policies) {
    warn_of_unseen(policy, warnings);
    if (policy.check) { warn_of_check(policy, warnings); }
  }
  const auto is_checked = [](const PolicyResult& policy) { return policy.check.has_value(); };
  if (std::none_of(told.policies.begin(), told.policies.end(), is_checked)) {
    warnings.emplace_back(
        "the log tells no propensity: that offers were drawn by chance is not known, and nothing "
        "but the model speaks for policies other than the logged one");
  }
  return warnings;
}

}  // namespace penstock::booking::demand
