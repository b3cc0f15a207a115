#include "penstock/domains/booking/compare/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "domains/booking/compare/pictures.h"
#include "domains/booking/compare/style.h"
#include "penstock/core/base/errors.h"
#include "penstock/tools/page/page.h"

namespace penstock::booking {
namespace {

using page::escaped;
using page::key_line;
using page::number;
using page::section;
using page::tile;
using Key = std::vector<std::pair<std::string, std::string>>;

/// The place of a policy among those evaluated.
std::size_t place_of(const Evaluation& evaluation, const std::string& name) {
  const PolicyScore& score = evaluation.policy(name);
  return &score - evaluation.policies.data();
}

const BookingLog& log_of(const ReportInput& input, const std::string& name) {
  return input.evaluation.logs.at(place_of(input.evaluation, name));
}

double bound_cost(const ReportInput& input) {
  const std::vector<Cost>& costs = input.bound.costs;
  double sum = 0;
  for (const Cost each : costs) { sum += in_unit(each, input.rules.unit); }
  return costs.empty() ? 0 : sum / costs.size();
}

std::string with_unit(double cost, const ReportInput& input) {
  return number(cost) + " " + name_of(input.rules.unit);
}

std::string percent(double share, int digits = 1) { return number(100 * share, digits) + " %"; }

/// The cost of a served request, under null and at the bound: a policy that loses customers
/// drives less in all, and is not the better for it.
struct PerServed {
  double null = 0;
  double bound = 0;
  /// Which part of null's way to the bound a policy goes.
  [[nodiscard]] double part_of_possible(double cost) const {
    return null > bound ? (null - cost) / (null - bound) : std::nan("");
  }
};

double bound_unserved(const ReportInput& input) {
  double unserved = 0;
  for (const std::int32_t each : input.bound.unserved) { unserved += each; }
  return unserved;
}

double requests_of(const ReportInput& input) {
  double requests = 0;
  for (const DayScore& day : input.evaluation.policy("null").days) { requests += day.requests; }
  return requests;
}

PerServed per_served(const ReportInput& input) {
  const double days = input.bound.costs.size();
  return {.null = line_of(input.evaluation, input.evaluation.policy("null")).per_served,
          .bound =
              bound_cost(input) * days / std::max(1.0, requests_of(input) - bound_unserved(input))};
}

/// The columns of the table of policies.
std::vector<std::string> policy_columns(const ReportInput& input) {
  const std::string unit = name_of(input.rules.unit);
  return {"policy",
          "reward",
          "against null (95 %)",
          unit + " a day",
          unit + " a served request",
          "saved of these",
          "of the possible",
          "vehicles",
          "driver hours",
          "taken",
          "min/request",
          "not served",
          "lost"};
}

std::string tiles(const ReportInput& input) {
  const Evaluation& evaluation = input.evaluation;
  const PolicyLine null = line_of(evaluation, evaluation.policy("null"));
  const PolicyLine shown = line_of(evaluation, evaluation.policy(input.shown));
  const double bound = bound_cost(input);
  std::string html = "<div class=\"tiles\">\n";
  html += tile(with_unit(shown.difference.mean, input),
               fmt::format("reward of {} a day above null's; 95 %: {} to {}", input.shown,
                           number(shown.difference.low), number(shown.difference.high)));
  html += tile(with_unit(null.cost.mean, input), "a day without offers (null)");
  html += tile(with_unit(shown.cost.mean, input), "a day under " + input.shown);
  html += tile(percent(shown.saving), "saved per served request against null");
  html += tile(with_unit(bound, input), "bound: everybody takes everything");
  html += tile(percent(shown.acceptance), "of its offers were taken");
  html += tile(fmt::format("{} \u2192 {}", number(null.vehicles, 1), number(shown.vehicles, 1)),
               "vehicles a day, null's and its");
  html += tile(fmt::format("{} \u2192 {} h", number(null.hours, 1), number(shown.hours, 1)),
               "driver hours a day, null's and its");
  if (shown.lost > 0) { html += tile(percent(shown.lost), "of its customers left"); }
  return html + "</div>\n";
}

std::string policy_row(const ReportInput& input, const PolicyScore& score, const PerServed& cost) {
  const PolicyLine line = line_of(input.evaluation, score);
  const std::string nothing = "\u2013";
  const bool is_null = score.name == "null";
  const std::string difference =
      fmt::format("{} ({} to {})", number(line.difference.mean), number(line.difference.low),
                  number(line.difference.high));
  return detail::table_row(
      policy_columns(input),
      {escaped(score.name), number(line.reward.mean), is_null ? nothing : difference,
       number(line.cost.mean), number(line.per_served, 3),
       is_null ? nothing : percent(line.saving, 2),
       is_null ? nothing : percent(cost.part_of_possible(line.per_served), 0),
       number(line.vehicles), number(line.hours, 1), percent(line.acceptance),
       number(line.shifted, 1), percent(line.unserved, 2), percent(line.lost, 2)},
      score.name == input.shown ? "mine" : "");
}

std::string bound_row(const ReportInput& input, const PerServed& cost) {
  const std::string nothing = "\u2013";
  const double requests = requests_of(input);
  return detail::table_row(
      policy_columns(input),
      {"bound", nothing, nothing, number(bound_cost(input)), number(cost.bound, 3),
       percent(1 - cost.bound / cost.null, 2), percent(1, 0), nothing, nothing, nothing, nothing,
       percent(requests > 0 ? bound_unserved(input) / requests : 0, 2), percent(0, 2)},
      "bound");
}

/// The policy that is shown against each other one but null, which the chart is about.
std::string duels(const ReportInput& input) {
  const PolicyScore& shown = input.evaluation.policy(input.shown);
  std::vector<std::string> all;
  for (const PolicyScore& other : input.evaluation.policies) {
    if (other.name == shown.name || other.name == "null" || shown.name == "null") { continue; }
    const Interval gain =
        paired_difference(shown.days, other.days, [](const DayScore& day) { return day.reward; });
    all.push_back(fmt::format("{} {} ({} to {})", escaped(other.name), number(gain.mean),
                              number(gain.low), number(gain.high)));
  }
  if (all.empty()) { return ""; }
  return fmt::format("<p>Reward of {} a day above that of {}; paired, 95 %.</p>\n",
                     escaped(shown.name), fmt::join(all, ", "));
}

std::string table_section(const ReportInput& input) {
  const Evaluation& evaluation = input.evaluation;
  const PerServed cost = per_served(input);
  std::string body = detail::gain_chart(input) + duels(input) + "<table class=\"policies cards\">" +
                     detail::table_head(policy_columns(input)) + "<tbody>\n";
  for (const PolicyScore& score : evaluation.policies) { body += policy_row(input, score, cost); }
  body += bound_row(input, cost) + "</tbody></table>\n";
  std::string text = fmt::format(
      "All play the same {} days, with the same people and the same draws behind their answers. "
      "The bound widens every window by 30 minutes on both sides and plans by rr-1000",
      evaluation.policies[0].days.size());
  if (input.bound.reference_days > 0) {
    text +=
        fmt::format(", on {} days by PyVRP too, the better of the two", input.bound.reference_days);
  }
  text +=
      ". The reward also counts minutes, refusals, requests that fit nowhere and customers who "
      "leave; what is saved is told by served request, so that losing customers saves nothing.";
  return section("Policies", text, key_line({{"shown", escaped(input.shown)}, {"other", "others"}}),
                 body);
}

std::string day_title(const BookingLog& log, const std::string& name) {
  Cost cost = 0;
  for (const auto& table : detail::timetables(log.instance, log.plan)) { cost += table.cost; }
  return name + ": " + detail::cost_text(cost, log.instance.unit);
}

std::string map_section(const ReportInput& input) {
  const BookingLog& null = log_of(input, "null");
  const BookingLog& shown = log_of(input, input.shown);
  const bool ride = null.instance.mode == Mode::ride;
  const std::string maps =
      detail::route_map(null, day_title(null, "null")) +
      (input.shown == "null" ? "" : detail::route_map(shown, day_title(shown, input.shown)));
  return section(
      fmt::format("Routes of day {}", input.day + 1),
      maps.empty() ? "The places of this instance are not known."
                   : "A colour is a vehicle; the square is the depot, legs to and from it are "
                     "dashed. Numbers are requests, as in the timetable and the table of offers: "
                     "point at one to find it in all. Legs are drawn straight, roads are longer.",
      key_line(ride ? Key{{".full", "pickup"}, {".open", "drop-off"}} : Key{{".full", "stop"}}),
      "<div class=\"pair\">\n" + maps + "</div>\n");
}

std::string gantt_section(const ReportInput& input) {
  const BookingLog& null = log_of(input, "null");
  const BookingLog& shown = log_of(input, input.shown);
  const std::array<const BookingLog*, 2> both = {&null, &shown};
  const Window span = detail::hours_out(both);
  std::string body = detail::gantt_chart(shown, span, day_title(shown, input.shown));
  if (input.shown != "null") {
    body += "<details><summary>The same day without offers</summary>\n" +
            detail::gantt_chart(null, span, day_title(null, "null")) + "</details>\n";
  }
  Key key = {{".full", "pickup"}, {".open", "drop-off"}};
  if (null.instance.mode == Mode::deliver) { key = {{".full", "stop"}}; }
  key.insert(key.end(), {{".wait", "waiting"},
                         {".window", "promised window"},
                         {".wished", "wished"},
                         {".at", "service begins"}});
  return section(
      fmt::format("Timetable of day {}", input.day + 1),
      fmt::format(
          "Each vehicle as early as it may be; {}. Below it the windows that were promised, "
          "with the number of the request; where a window is not the wished one, a line "
          "under it shows the wish.",
          null.instance.unit == CostUnit::seconds ? "hours of the file's own clock"
                                                  : "hours of the day"),
      key_line(key), body);
}

std::string offers_section(const ReportInput& input) {
  return section(
      fmt::format("Offers of day {} in the order of calls", input.day + 1),
      fmt::format("What {} proposed. Prices are what cheapest insertion adds to the routes of the "
                  "moment; the routes grew by what the planner made of them.",
                  escaped(input.shown)),
      "", detail::offers_table(log_of(input, input.shown), input.rules));
}

std::string price_section(const ReportInput& input) {
  const BookingLog& log = log_of(input, input.shown);
  const double paid = in_unit(input.rules.per_minute, input.rules.unit);
  const char* unit = name_of(input.rules.unit);
  return section(
      "The price of a promise",
      fmt::format(
          "By offer, over all days of {0}: how many {1} a minute of the customer's patience "
          "saves when the offer is taken, by cheapest insertion; a minute costs {2} {1}, and "
          "offers that save less than that are orange. Then how often each was made, and "
          "how often it was taken.",
          escaped(input.shown), unit, number(paid, 3)),
      "",
      "<div class=\"pair\">\n" + detail::price_grid(log, input.rules) + detail::made_grid(log) +
          detail::taken_grid(log) + "</div>\n");
}

std::string hour_section(const ReportInput& input) {
  return section("Acceptance by hour",
                 fmt::format("Requests of all days under {}, with the share of its offers that "
                             "were taken.",
                             escaped(input.shown)),
                 key_line({{"good", "taken"}, {"bad", "declined"}, {"idle", "not asked"}}),
                 detail::hour_chart(log_of(input, input.shown)));
}

/// What is pointed at stays, in all pictures and the table; the rest steps back. Styles do it: the
/// page has no script.
std::string links(const ReportInput& input) {
  std::string style;
  const std::size_t requests = log_of(input, input.shown).shown_offers().size();
  for (std::size_t i = 0; i < requests; ++i) {
    style += fmt::format("main:has(.r{0}:hover) .req:not(.r{0}) {{ opacity: .18; }}\n", i);
  }
  return style;
}

}  // namespace

std::string report_html(const ReportInput& input) {
  if (input.evaluation.versus != "null") {
    throw UsageError("a report compares with null: name it in --policies");
  }
  place_of(input.evaluation, "null");
  place_of(input.evaluation, input.shown);
  return page::begin_page("Booking under time windows", detail::kReportStyle + links(input)) +
         fmt::format("<h1>Booking under time windows</h1>\n<p>{}</p>\n", escaped(input.setting)) +
         tiles(input) + table_section(input) + map_section(input) + gantt_section(input) +
         offers_section(input) + price_section(input) + hour_section(input) + page::end_page();
}

}  // namespace penstock::booking
