#include "domains/booking/slots/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "penstock/tools/page/page.h"

namespace penstock::booking {
namespace {

using page::escaped;
using page::number;

constexpr const char* kPageStyle = R"(
:root { --shown: #1f66ad; --other: #8a93a1; --idle: #c9ced6; --taken: #dcebdf; }
@media (prefers-color-scheme: dark) { :root { --shown: #6cb2f2; --other: #77818f; --idle: #48525f; --taken: #24412d; } }
main { max-width: 1200px; } .best { --c: var(--shown); } .rest { --c: var(--other); } .best, .mine td { font-weight: 600; }
.bars { display: grid; gap: 10px; margin: 8px 0 16px; } .bar { display: grid; grid-template-columns: 116px 1fr 190px; gap: 12px; align-items: center; font-size: 13px; font-variant-numeric: tabular-nums; }
.bar .line { position: relative; height: 18px; } .bar .line > * { position: absolute; }
.bar em { top: -6px; bottom: -6px; border-left: 1px solid var(--soft); } .bar i { top: 8px; height: 2px; background: var(--c); }
.bar b { top: 4.5px; width: 9px; height: 9px; margin-left: -4.5px; border-radius: 50%; background: var(--c); }
th { white-space: normal; vertical-align: bottom; line-height: 1.25; } th:first-child, td:first-child { text-align: left; }
.calls td { vertical-align: top; } .calls small { display: block; color: var(--soft); font-size: 11px; } .calls td.taken { background: var(--taken); font-weight: 600; }
.calls td.closed { color: var(--soft); }
@media (max-width: 700px) {
  main { padding: 16px 10px 40px; } section { padding: 14px 12px 8px; }
  .bar { grid-template-columns: 96px 1fr; gap: 2px 10px; } .bar span:last-child { grid-column: 2; }
  .cards thead { display: none; } .cards, .cards tbody { display: block; white-space: normal; }
  .cards tr { display: grid; grid-template-columns: 1fr 1fr; gap: 0 14px; padding: 8px 0; border-bottom: 1px solid var(--rule); }
  .cards td { display: flex; justify-content: space-between; gap: 8px; border: 0; padding: 1px 4px; text-align: right; }
  .cards td:first-child { grid-column: 1 / -1; font-weight: 600; } .cards td::before { content: attr(data-name); color: var(--soft); font-weight: 400; text-align: left; }
  .cards td:first-child::before { content: none; } .policies td:nth-child(-n+3) { grid-column: 1 / -1; } .calls td:nth-child(n+6) { grid-column: 1 / -1; } .calls small { display: inline; min-width: 110px; } }
)";

std::string market_name(const SlotContest& contest) {
  return fmt::format("{}, {} customers, {} vehicles", contest.family, contest.customers,
                     contest.vehicles);
}

double low(const Estimate& found, double half) { return found.mean - half * found.std_error; }
double high(const Estimate& found, double half) { return found.mean + half * found.std_error; }

std::string interval(const Estimate& found, double half) {
  return fmt::format("{} ({} to {})", number(found.mean, 1), number(low(found, half), 1),
                     number(high(found, half), 1));
}

const SellerLine& best_of(const std::vector<SellerLine>& lines) {
  return *std::ranges::max_element(lines, {},
                                   [](const SellerLine& line) { return line.profit.mean; });
}

/// Money as percent of a chart's width.
struct Width {
  double least = 0;
  double most = 0;
  double operator()(double money) const { return 100 * (money - least) / (most - least); }
};

Width width_of(const std::vector<SellerLine>& lines) {
  Width width;
  for (const SellerLine& line : lines) {
    width.least = std::min(width.least, low(line.profit, line.half));
    width.most = std::max(width.most, high(line.profit, line.half));
  }
  const double margin = 0.04 * (width.most - width.least) + 1e-6;
  return {width.least - margin, width.most + margin};
}

std::string bars(const std::vector<SellerLine>& lines) {
  const Width at = width_of(lines);
  const std::string& best = best_of(lines).name;
  std::string html = "<div class=\"bars\">\n";
  for (const SellerLine& line : lines) {
    const double from = at(low(line.profit, line.half));
    html += fmt::format(
        R"(<div class="bar {}"><span>{}</span><span class="line"><em style="left:{:.2f}%"></em>)"
        R"(<i style="left:{:.2f}%;width:{:.2f}%"></i><b style="left:{:.2f}%"></b></span>)"
        "<span>{}</span></div>\n",
        line.name == best ? "best" : "rest", escaped(line.name), at(0), from,
        at(high(line.profit, line.half)) - from, at(line.profit.mean),
        interval(line.profit, line.half));
  }
  return html + "</div>\n";
}

/// A table whose rows are cards on a narrow screen: cells say their column.
class Table {
 public:
  Table(const std::string& cls, std::vector<std::string> columns) : columns_(std::move(columns)) {
    html_ =
        fmt::format("<table class=\"cards {}\">\n<thead><tr><th>{}</th></tr></thead>\n<tbody>\n",
                    cls, fmt::join(columns_, "</th><th>"));
  }
  void begin_row(const std::string& cls = "") {
    html_ += fmt::format(R"(<tr class="{}">)", cls);
    at_ = 0;
  }
  void cell(const std::string& html, const std::string& cls = "") {
    html_ += fmt::format(R"(<td class="{}" data-name="{}">{}</td>)", cls, columns_[at_++], html);
  }
  void end_row() { html_ += "</tr>\n"; }
  [[nodiscard]] std::string str() const { return html_ + "</tbody>\n</table>\n"; }

 private:
  std::vector<std::string> columns_;
  std::string html_;
  std::size_t at_ = 0;
};

std::string sellers_table(const SlotContest& contest, const std::vector<SellerLine>& lines) {
  Table table("policies",
              {"seller", "profit (95 %)", "against " + escaped(contest.versus) + " (95 %)", "sold",
               "lost customers", "fees", "km", "cost of routes", "cost of a sale", "ms a call"});
  for (const SellerLine& line : lines) {
    table.begin_row(line.name == best_of(lines).name ? "mine" : "");
    table.cell(escaped(line.name));
    table.cell(interval(line.profit, line.half));
    table.cell(line.name == contest.versus ? "\u2013" : interval(line.difference, line.half));
    table.cell(number(100 * line.sold, 1) + " %");
    table.cell(number(line.lost, 1));
    table.cell(number(line.fees, 1));
    table.cell(number(line.km, 1));
    table.cell(number(line.cost, 1));
    table.cell(number(line.cost_per_sale, 2));
    table.cell(number(line.decision_ms, 3));
    table.end_row();
  }
  return table.str();
}

std::string clock(double hour) {
  const auto minutes = static_cast<int>(std::lround(hour * 60));
  return fmt::format("{:02}:{:02}", minutes / 60, minutes % 60);
}

std::string slot_name(const SlotTime& slot, bool days) {
  const std::string times = clock(slot.from) + "\u2013" + clock(slot.to);
  return days ? fmt::format("day {}, {}", slot.day + 1, times) : times;
}

std::string slot_cell(const AnsweredCall& call, std::size_t s) {
  if (call.fees[s] == kWithheld) { return "not offered"; }
  const std::string cost = call.has_costs ? number(call.costs[s], 1) : "\u2013";
  return fmt::format("{} <small>cost {}, {} %</small>", number(call.fees[s]), cost,
                     number(100 * call.chance[s], 0));
}

std::string calls_table(const ShownEpisode& shown) {
  const bool days = shown.slots.back().day > 0;
  std::vector<std::string> columns = {"call", "horizon", "wish", "revenue", "bought"};
  for (const SlotTime& slot : shown.slots) { columns.push_back(slot_name(slot, days)); }
  Table table("calls", columns);
  for (std::size_t i = 0; i < shown.calls.size(); ++i) {
    const AnsweredCall& call = shown.calls[i];
    const bool sold = call.choice != kNoPurchase;
    table.begin_row();
    table.cell(fmt::format("call {}", i + 1));
    table.cell(number(100 * call.arrival, 0) + " %");
    table.cell(clock(call.hour));
    table.cell(number(call.revenue));
    table.cell(sold ? slot_name(shown.slots[call.choice], days) : "nothing");
    for (std::size_t s = 0; s < shown.slots.size(); ++s) {
      const bool taken = std::cmp_equal(s, call.choice);
      const bool offered = call.fees[s] != kWithheld;
      table.cell(slot_cell(call, s), taken ? "taken" : offered ? "" : "closed");
    }
    table.end_row();
  }
  return table.str();
}

std::string tiles(const SlotContest& contest) {
  const std::vector<SellerLine> lines = contest.lines();
  const SellerLine& best = best_of(lines);
  return "<div class=\"tiles\">\n" +
         page::tile(number(best.profit.mean),
                    fmt::format("profit of an episode by {}; 95 %: {} to {}", best.name,
                                number(low(best.profit, best.half)),
                                number(high(best.profit, best.half)))) +
         page::tile(number(best.difference.mean),
                    fmt::format("more than {}; 95 %: {} to {}", contest.versus,
                                number(low(best.difference, best.half)),
                                number(high(best.difference, best.half)))) +
         page::tile(number(100 * best.sold, 1) + " %", "of its callers buy") +
         page::tile(number(best.lost, 1), "customers lost in an episode") +
         page::tile(number(best.fees), "fees of an episode") +
         page::tile(number(best.km, 1) + " km", "driven in an episode") + "</div>\n";
}

}  // namespace

std::string slots_page(const std::vector<SlotContest>& contests, const ShownEpisode& shown) {
  std::string html = page::begin_page("Slots sold for money", kPageStyle);
  html += "<h1>Slots sold for money</h1>\n";
  html += fmt::format("<p>{}: {} episodes. Every seller meets the same callers.</p>\n",
                      market_name(contests.at(0)), contests.at(0).num_episodes());
  html += tiles(contests.at(0));
  for (const SlotContest& contest : contests) {
    const std::vector<SellerLine> lines = contest.lines();
    html += page::section(
        market_name(contest),
        "Profit of an episode: revenue + fees \u2212 the cost of routes \u2212 what lost customers "
        "cost; "
        "mean and 95 % interval. The line is 0. Differences are of the same episodes.",
        "", bars(lines) + sellers_table(contest, lines));
  }
  html += page::section(
      "Call by call",
      fmt::format(
          "The first episode of {} under {}. Of each slot: the fee; what a sale there is taken "
          "to cost, where the seller asks; the chance that this caller takes it. Green: "
          "bought.",
          escaped(shown.market), escaped(shown.seller)),
      "", calls_table(shown));
  return html + page::end_page();
}

}  // namespace penstock::booking
