// What a backtest found, for people and programs.
#include <fmt/format.h>

#include <iterator>

#include "penstock/core/base/json_value.h"
#include "penstock/domains/booking/demand/backtest.h"

namespace penstock::booking::demand {
namespace {

Json tell(const PerDay& number) {
  return {{"mean", number.mean}, {"low", number.low}, {"high", number.high}};
}

Json tell(const Fit& fit) {
  Json told = Json::object();
  for (std::size_t i = 0; i < kNumTraits; ++i) {
    if (!fit.known[i]) { continue; }
    const double half = half_width(fit, i);
    told[kTraitNames[i]] =
        tell(PerDay{.mean = fit.worth[i], .low = fit.worth[i] - half, .high = fit.worth[i] + half});
  }
  return told;
}

Json tell(const PolicyResult& policy) {
  Json told = {{"name", policy.name},
               {"earned", tell(policy.earned)},
               {"bookings", policy.bookings},
               {"calls", policy.calls},
               {"km", policy.km},
               {"unseen", policy.unseen},
               {"untold", policy.untold}};
  if (policy.gain) { told["gain"] = tell(*policy.gain); }
  if (policy.check) {
    told["check"] = {{"direct", tell(policy.check->direct)},
                     {"weighted", tell(policy.check->weighted)},
                     {"difference", tell(policy.check->difference)},
                     {"effective_calls", policy.check->effective},
                     {"matched_calls", policy.check->matched}};
  }
  return told;
}

std::string told(const PerDay& number) {
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", number.mean, number.low, number.high);
}

}  // namespace

std::string backtest_json(const Backtest& found) {
  Json policies = Json::array();
  for (const PolicyResult& policy : found.policies) { policies.push_back(tell(policy)); }
  const Json told = {{"days", found.days},
                     {"scored_days", found.scored},
                     {"calls", found.calls},
                     {"fit", tell(found.fit)},
                     {"log_likelihood", found.fit.log_likelihood},
                     {"tastes", found.tastes.list.size()},
                     {"policies", std::move(policies)},
                     {"bias", tell(found.bias)},
                     {"warnings", found.warnings}};
  return to_text(told, 1) + "\n";
}

std::string backtest_table(const Backtest& found) {
  std::string text = fmt::format(
      "{} calls on {} days, the last {} scored; means a day with 95 % intervals over days\n\n"
      "{:<12}{:<34}{:<34}{:>9}{:>9}\n",
      found.calls, found.days, found.scored, "policy", "earned", "gain over what was done",
      "bookings", "km");
  auto out = std::back_inserter(text);
  for (const PolicyResult& policy : found.policies) {
    fmt::format_to(out, "{:<12}{:<34}{:<34}{:>9.1f}{:>9.1f}\n", policy.name, told(policy.earned),
                   policy.gain ? told(*policy.gain) : "", policy.bookings, policy.km);
  }
  fmt::format_to(out, "\nwhat customers like (utility)\n");
  for (std::size_t i = 0; i < kNumTraits; ++i) {
    if (!found.fit.known[i]) { continue; }
    fmt::format_to(out, "  {:<12}{:+.4f} +- {:.4f}\n", kTraitNames[i], found.fit.worth[i],
                   half_width(found.fit, i));
  }
  fmt::format_to(out, "  tastes that customers differ by: {}\n", found.tastes.list.size());
  for (const PolicyResult& policy : found.policies) {
    if (!policy.check) { continue; }
    fmt::format_to(out,
                   "\n{}, call by call: {} by the model, {} by {} calls that were shown the same "
                   "(worth {:.0f}); difference {}\n",
                   policy.name, told(policy.check->direct), told(policy.check->weighted),
                   policy.check->matched, policy.check->effective, told(policy.check->difference));
  }
  for (const std::string& warning : found.warnings) {
    fmt::format_to(out, "\nwarning: {}\n", warning);
  }
  return text;
}

}  // namespace penstock::booking::demand
