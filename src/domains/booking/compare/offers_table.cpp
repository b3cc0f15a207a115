#include <fmt/format.h>

#include <cstdlib>

#include "domains/booking/compare/pictures.h"
#include "penstock/tools/page/page.h"

namespace penstock::booking::detail {

std::string cost_text(Cost cost, CostUnit unit, int digits) {
  return fmt::format("{:.{}f} {}", in_unit(cost, unit), digits, name_of(unit));
}

std::string clock_text(Seconds time) {
  const Seconds minutes = std::abs(time) / 60;
  return fmt::format("{}{:02}:{:02}", time < 0 && minutes > 0 ? "-" : "", minutes / 60,
                     minutes % 60);
}

std::string window_text(const Window& window) {
  return clock_text(window.earliest) + "\u2013" + clock_text(window.latest);
}

std::string vehicle_class(std::int32_t vehicle) { return fmt::format("v{}", vehicle % 8); }

std::string request_class(std::size_t request) { return fmt::format("req r{}", request); }

bool begins_request(const Instance& instance, std::int32_t node) {
  return instance.mode == Mode::deliver || node % 2 == 1;
}

std::string stop_text(const Instance& instance, std::int32_t node) {
  const char* kind = instance.mode == Mode::deliver ? "stop"
                     : node % 2 == 1                ? "pickup"
                                                    : "drop-off";
  return fmt::format("{} of request {}", kind, instance.request_of(node) + 1);
}

std::string table_row(const std::vector<std::string>& columns,
                      const std::vector<std::string>& cells, const std::string& cls) {
  std::string html = cls.empty() ? "<tr>" : fmt::format("<tr class=\"{}\">", cls);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    html += fmt::format("<td data-name=\"{}\">{}</td>", columns[i], cells[i]);
  }
  return html + "</tr>\n";
}

std::string table_head(const std::vector<std::string>& columns) {
  return fmt::format("<thead><tr><th>{}</th></tr></thead>", fmt::join(columns, "</th><th>"));
}

namespace {

using page::number;

std::string price_text(Cost price, CostUnit unit) {
  return price == Insertion::kNowhere ? "nowhere" : number(in_unit(price, unit));
}

std::string offer_text(std::int32_t action) {
  const OfferedTime time = offered_time(action);
  if (action == kNoChange) { return "as wished"; }
  std::string text;
  if (time.earlier > 0) { text = fmt::format("{} earlier", time.earlier / 60); }
  if (time.later > 0) {
    text += fmt::format("{}{} later", text.empty() ? "" : ", ", time.later / 60);
  }
  return text;
}

std::string answer_text(const OfferMade& made) {
  std::string text = made.action == kNoChange ? "<i class=\"chip idle\">not asked</i>"
                     : made.taken             ? "<i class=\"chip good\">taken</i>"
                                              : "<i class=\"chip bad\">declined</i>";
  if (!made.served) {
    text += fmt::format(" <i class=\"chip bad\">{}</i>", made.left ? "left" : "not served");
  }
  return text;
}

/// With what the routes grew by, the day's reward.
Cost paid_for(const OfferMade& made, const BookingRules& rules) {
  const Cost penalty = made.served ? 0 : made.left ? rules.lost : rules.unserved;
  if (made.action == kNoChange) { return penalty; }
  return penalty + (made.taken ? rules.per_minute * offered_minutes(made.action) : rules.rejection);
}

}  // namespace

std::string offers_table(const BookingLog& log, const BookingRules& rules) {
  const std::string unit = name_of(rules.unit);
  const std::vector<std::string> columns = {
      "#",
      "customer",
      log.instance.mode == Mode::ride ? "wished pickup" : "wished time",
      "offer, minutes",
      "answer",
      "minutes given",
      unit + " as wished",
      unit + " as offered",
      "paid, " + unit,
      "routes grew, " + unit};
  std::string rows = "<table class=\"offers cards\">" + table_head(columns) + "<tbody>\n";
  const auto told = [&](Cost cost) { return number(in_unit(cost, rules.unit)); };
  const std::string nothing = "\u2013";
  std::int32_t minutes = 0;
  Cost paid = 0;
  Cost grown = 0;
  std::size_t row = 0;
  for (const OfferMade& made : log.shown_offers()) {
    const bool asked = made.action != kNoChange;
    const std::int32_t given = made.taken ? offered_minutes(made.action) : 0;
    minutes += given;
    paid += paid_for(made, rules);
    grown += made.cost_after - made.cost_before;
    rows += table_row(
        columns,
        {fmt::format("{}", ++row), fmt::format("{}", made.customer + 1),
         window_text(made.wished[0]), offer_text(made.action), answer_text(made),
         asked ? fmt::format("{}", given) : nothing, price_text(made.prices[kNoChange], rules.unit),
         asked ? price_text(made.prices[made.action], rules.unit) : nothing,
         asked || !made.served ? told(paid_for(made, rules)) : nothing,
         told(made.cost_after - made.cost_before)},
        request_class(row - 1));
  }
  return rows + "</tbody><tfoot>" +
         table_row(columns, {"", "", "", "", "in all", fmt::format("{}", minutes), "", "",
                             told(paid), told(grown)}) +
         "</tfoot></table>\n";
}

}  // namespace penstock::booking::detail
