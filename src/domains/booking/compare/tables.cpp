#include <fmt/format.h>

#include <cmath>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"
#include "penstock/domains/booking/compare/evaluate.h"

namespace penstock::booking {
namespace {

double reward(const DayScore& day) { return day.reward; }
double minutes(const DayScore& day) { return day.driven_s / 60.0; }

/// The sums of all days.
DayScore total(const std::vector<DayScore>& days) {
  DayScore sum;
  for (const DayScore& day : days) {
    sum.cost += day.cost;
    sum.vehicles += day.vehicles;
    sum.out_s += day.out_s;
    sum.requests += day.requests;
    sum.offers += day.offers;
    sum.taken += day.taken;
    sum.minutes += day.minutes;
    sum.unserved += day.unserved;
    sum.lost += day.lost;
    sum.known_types += day.known_types;
    sum.ride_ratio += day.ride_ratio;
  }
  return sum;
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// A day without customers costs nothing: only what served requests cost can be compared.
double cost_per_served(const DayScore& sum, CostUnit unit) {
  return sum.served() > 0 ? in_unit(sum.cost, unit) / sum.served() : std::nan("");
}

OrderedJson interval_json(const Interval& interval) {
  return {{"mean", interval.mean}, {"ci95", {interval.low, interval.high}}};
}

OrderedJson number_or_null(double x) {
  return std::isfinite(x) ? OrderedJson(x) : OrderedJson(nullptr);
}

std::string number_or_dash(double x, int digits) {
  return std::isfinite(x) ? fmt::format("{:.{}f}", x, digits) : "-";
}

std::string reference_text(const Evaluation& evaluation) {
  std::string out;
  const char* unit = name_of(evaluation.unit);
  for (std::size_t i = 0; i < evaluation.references.size(); ++i) {
    if (const auto& found = evaluation.references[i]) {
      out += fmt::format("pyvrp on {}'s promises: {:.2f} {}, ours {:.2f} {} ({:+.2f} %), {} days\n",
                         evaluation.policies[i].name, found->reference, unit, found->ours, unit,
                         100 * (share(found->ours, found->reference) - 1), found->days);
    }
  }
  for (std::size_t i = 0; i < evaluation.audits.size(); ++i) {
    if (const auto& found = evaluation.audits[i]) {
      out += fmt::format(
          "audit of {}: {} steps solved again at rr-1000: {:+.2f} % above, {} wrong "
          "signs\n",
          evaluation.policies[i].name, found->steps, 100 * found->mean_gap, found->wrong_signs);
    }
  }
  return out;
}

}  // namespace

PolicyLine line_of(const Evaluation& evaluation, const PolicyScore& score) {
  const double days = score.days.size();
  const DayScore sum = total(score.days);
  const PolicyScore& versus = evaluation.policy(evaluation.versus);
  const auto cost = [unit = evaluation.unit](const DayScore& day) {
    return in_unit(day.cost, unit);
  };
  PolicyLine line;
  line.reward = mean_of(score.days, reward);
  line.cost = mean_of(score.days, cost);
  line.minutes = mean_of(score.days, minutes);
  line.vehicles = share(sum.vehicles, days);
  line.hours = share(sum.out_s / 3600.0, days);
  line.per_served = cost_per_served(sum, evaluation.unit);
  line.saving = std::nan("");
  for (const PolicyScore& other : evaluation.policies) {
    if (other.name != "null") { continue; }
    line.saving = 1 - line.per_served / cost_per_served(total(other.days), evaluation.unit);
  }
  line.acceptance = share(sum.taken, sum.offers);
  line.shifted = share(sum.minutes, sum.requests);
  line.unserved = share(sum.unserved, sum.requests);
  line.lost = share(sum.lost, sum.requests);
  line.known_types = share(sum.known_types, sum.requests);
  line.ride_ratio = share(sum.ride_ratio, days);
  line.difference = paired_difference(score.days, versus.days, reward);
  line.difference_cost = paired_difference(score.days, versus.days, cost);
  return line;
}

const PolicyScore& Evaluation::policy(const std::string& name) const {
  std::vector<std::string> names;
  for (const PolicyScore& score : policies) {
    if (score.name == name) { return score; }
    names.push_back(score.name);
  }
  throw UsageError(
      fmt::format("--versus {}: not one of --policies{}", name, did_you_mean(name, names)));
}

std::string Evaluation::text() const {
  std::string out = fmt::format(
      "{:<14}{:>9}{:>9}{:>9}{:>6}{:>11}{:>9}{:>9}{:>9}{:>8}{:>8}{:>8}{:>8}{:>9}  "
      "reward - {}\n",
      "policy", "reward", name_of(unit), "road min", "cars",
      fmt::format("{}/served", name_of(unit)), "saving%", "accept%", "min/req", "unsrv%", "lost%",
      "types%", "p50 us", "p99 us", versus);
  for (const PolicyScore& score : policies) {
    const PolicyLine line = line_of(*this, score);
    out += fmt::format(
        "{:<14}{:>9.2f}{:>9.2f}{:>9.0f}{:>6.2f}{:>11}{:>9}{:>9.1f}{:>9.2f}{:>8.2f}{:>8.2f}{:>8."
        "1f}{:>8.1f}{:>9.1f}  {:+.3f} [{:+.3f}, {:+.3f}]\n",
        score.name, line.reward.mean, line.cost.mean, line.minutes.mean, line.vehicles,
        number_or_dash(line.per_served, 3), number_or_dash(100 * line.saving, 2),
        100 * line.acceptance, line.shifted, 100 * line.unserved, 100 * line.lost,
        100 * line.known_types, score.decision_p50_us, score.decision_p99_us, line.difference.mean,
        line.difference.low, line.difference.high);
  }
  if (unit == CostUnit::seconds) {
    out += "costs and rewards are minutes of driving; a km that is paid counts as 2.5\n";
  }
  return out + fmt::format("saving%: {} of a served request against null\n", name_of(unit)) +
         reference_text(*this);
}

std::string Evaluation::json() const {
  OrderedJson rows = OrderedJson::array();
  const std::string name = name_of(unit);
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const PolicyScore& score = policies[i];
    const PolicyLine line = line_of(*this, score);
    OrderedJson row = {
        {"policy", score.name},
        {"reward", interval_json(line.reward)},
        {name, interval_json(line.cost)},
        {"minutes", line.minutes.mean},
        {"vehicles", line.vehicles},
        {"driver_hours", line.hours},
        {name + "_per_served", number_or_null(line.per_served)},
        {"saving_per_served", number_or_null(line.saving)},
        {"acceptance", line.acceptance},
        {"shifted_minutes", line.shifted},
        {"unserved", line.unserved},
        {"lost", line.lost},
        {"type_accuracy", line.known_types},
        {"ride_ratio", line.ride_ratio},
        {"difference", interval_json(line.difference)},
        {"difference_" + name, interval_json(line.difference_cost)},
        {"decision_us", {{"p50", score.decision_p50_us}, {"p99", score.decision_p99_us}}}};
    if (i < references.size() && references[i]) {
      row["reference"] = {{"days", references[i]->days},
                          {"ours_" + name, references[i]->ours},
                          {"pyvrp_" + name, references[i]->reference}};
    }
    if (i < audits.size() && audits[i]) {
      row["audit"] = {{"steps", audits[i]->steps},
                      {"gap", audits[i]->mean_gap},
                      {"wrong_signs", audits[i]->wrong_signs}};
    }
    rows.push_back(row);
  }
  return to_text(OrderedJson{{"episodes", policies.empty() ? 0 : policies[0].days.size()},
                             {"versus", versus},
                             {"unit", name},
                             {"policies", rows}});
}

}  // namespace penstock::booking
