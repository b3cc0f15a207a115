#include "penstock/domains/cage2/search/report.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "domains/cage2/search/charts.h"
#include "penstock/core/store/journal.h"
#include "penstock/tools/page/page.h"

namespace penstock::cage2 {
namespace {

using page::escaped;
using page::key_line;
using page::number;
using page::section;
using page::tile;

constexpr const char* kStyle = R"(
:root { --search: #1f66ad; --random: #c4622d; --base: #6d4fa3; --stray: #b23a48; --truth: #8a93a1; --own: #1c2330;
  --t0: #8fb8de; --t1: #f2c078; --t2: #e58f8f; --t3: #9fce9f; --t4: #c5b3e0; --chip: #1c2330; }
@media (prefers-color-scheme: dark) {
  :root { --search: #6cb2f2; --random: #f0965c; --base: #b79bec; --stray: #f0808c; --truth: #77818f; --own: #e7eaf0;
    --t0: #4f7fab; --t1: #a9792f; --t2: #ab5555; --t3: #4f8a55; --t4: #7d69a5; --chip: #ffffff; } }
.key i.open { width: 10px; height: 10px; border: 2px solid var(--stray); border-radius: 50%; }
th:nth-child(2), td:nth-child(2) { text-align: left; }
text.stray { fill: var(--stray); } .chip { fill: var(--chip); font-size: 10.5px; }
.type0 { fill: var(--t0); } .type1 { fill: var(--t1); } .type2 { fill: var(--t2); } .type3 { fill: var(--t3); } .type4 { fill: var(--t4); }
.search { --c: var(--search); } .random { --c: var(--random); } .base { --c: var(--base); } .truth { --c: var(--truth); }
.own { --c: var(--own); } path.stray, line.stray, circle.stray { --c: var(--stray); }
.belief { stroke: var(--search); stroke-opacity: .18; stroke-width: 11; } .curve.own { stroke-width: 1.6; stroke-dasharray: 5 4; }
.thin { fill: none; stroke: var(--truth); stroke-opacity: .55; stroke-width: 1; }
.thin.stray { stroke: var(--stray); } .threshold { stroke: var(--soft); stroke-dasharray: 3 4; }
.warm { fill: var(--search); } .cool { fill: var(--random); }
)";

std::string with_interval(const Interval& i) {
  return fmt::format("{} ({} to {})", number(i.mean), number(i.low), number(i.high));
}

std::string tiles(const SearchOptions& options, const SearchResult& result) {
  std::string html = "<div class=\"tiles\">\n";
  if (result.best) {
    const WorkflowResult& r = result.trials[*result.best].result;
    html += tile(order_text(r.order), "the best order found", true);
    html += tile(number(r.mean_return) + " ± " + number(1.96 * r.std_error), "its mean return");
    html += tile(number(100 * r.compliance, 1) + " %", "its compliance");
  } else {
    html += tile("No order complied", "there is nothing to rank", true);
  }
  int counted = 0;
  for (const Trial& trial : result.trials) { counted += usable(options, trial.result) ? 1 : 0; }
  html += tile(fmt::format("{} of {}", counted, result.trials.size()), "evaluations that count");
  html += tile(number(result.belief.hyper.lambda, 3), "λ of the kernel, fitted");
  if (result.truth && result.truth->regret) {
    html += tile(number(result.truth->regret->own.back()), "regret of this search");
  }
  return html + "</div>\n";
}

std::string ranking_section(const SearchOptions& options, const SearchResult& result) {
  std::vector<std::pair<std::string, std::string>> key = {
      {"search", "measured, with its 95 % interval; behind it what is believed"},
      {".open", "did not comply: kept out"}};
  if (result.baselines) { key.emplace_back("base", "fixed orders and PPO without an order"); }
  return section(
      "Ranking",
      fmt::format("Mean return of the trained policy over {} episodes. The interval is that of "
                  "the evaluation; another training seed may differ by more.",
                  options.job.eval_episodes),
      key_line(key), detail::ranking_chart(options, result));
}

std::string heat_section(const SearchOptions& options, const SearchResult& result) {
  std::string body =
      "<div class=\"pair\">\n" + detail::heat_map(result.belief.posterior.mean, "as believed");
  if (result.truth) {
    std::array<double, search::kNumOrders> values{};
    for (int i = 0; i < search::kNumOrders; ++i) {
      const WorkflowResult& r = result.truth->all[i];
      values[i] = usable(options, r) ? r.mean_return : std::numeric_limits<double>::quiet_NaN();
    }
    body += detail::heat_map(values, "as measured on all orders");
  }
  return section(
      "Which type where",
      "How much the mean return of orders with a type at a place lies above or below that of "
      "all orders.",
      "", body + "</div>\n");
}

std::string progress_section(const SearchOptions& options, const SearchResult& result) {
  if (!result.truth || !result.truth->regret) {
    return section("Progress", "The best mean return so far.",
                   key_line({{"search", "search"}, {"random", "random search"}}),
                   detail::progress_chart(options, result));
  }
  const Regret& regret = *result.truth->regret;
  std::string text = fmt::format(
      "How far the order that would be chosen lies behind the best of all 120, {} ({}).",
      escaped(order_text(result.truth->all[result.truth->best].order)),
      number(result.truth->all[result.truth->best].mean_return));
  if (!regret.search.empty()) {
    text += fmt::format(
        " After {} evaluations, over {} repetitions{}: search {}, random search {}, difference {}; "
        "95 % intervals.",
        regret.own.size(), regret.search_final.size(),
        options.retrain ? " trained anew" : " that look results up in the exhaustive evaluation",
        with_interval(regret.search.back()), with_interval(regret.random.back()),
        with_interval(regret.gain));
  }
  return section(
      "Regret", text,
      key_line({{"search", "search"}, {"random", "random search"}, {"own", "this search"}}),
      detail::progress_chart(options, result));
}

std::string belief_section(const SearchOptions& options, const SearchResult& result) {
  std::vector<std::pair<std::string, std::string>> key = {
      {"search", "belief with its 95 % band; dots were evaluated"}, {".open", "did not comply"}};
  if (result.truth) { key.emplace_back("truth", "exhaustive evaluation"); }
  return section(
      "All 120 orders",
      fmt::format("A Gaussian process over orders, Mallows kernel: λ = {}, signal variance {}, {} "
                  "observations.",
                  number(result.belief.hyper.lambda, 4),
                  number(result.belief.hyper.signal_variance), result.belief.num_observations),
      key_line(key), detail::belief_chart(options, result));
}

std::string curve_section(const SearchOptions& options, const SearchResult& result) {
  std::vector<std::pair<std::string, std::string>> key = {
      {"search", "the best order"}, {"truth", "other orders"}, {"stray", "did not comply"}};
  if (result.baselines) { key.emplace_back("base", "PPO without an order"); }
  return section(
      "Learning and compliance",
      fmt::format("Training ends at {} % compliance, the dotted line.",
                  number(100 * options.job.compliance_threshold, 0)),
      key_line(key),
      "<div class=\"pair\">\n" + detail::curve_chart(options, result, detail::CurveKind::reward) +
          detail::curve_chart(options, result, detail::CurveKind::compliance) + "</div>\n");
}

std::string table_section(const SearchOptions& options, const SearchResult& result) {
  std::string rows =
      "<table><thead><tr><th>#</th><th>order</th><th>batch</th><th>mean return</th><th>± 95 %</th>"
      "<th>compliance</th><th>of lost "
      "hosts</th><th>fixes</th><th>worth</th><th>episodes</th><th>stopped "
      "early</th><th>counts</th></tr></thead><tbody>\n";
  int rank = 0;
  for (const int place : result.ranking) {
    const Trial& trial = result.trials[place];
    const WorkflowResult& r = trial.result;
    rows += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{} "
        "%</td><td>{} %</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        ++rank, escaped(order_text(r.order)), trial.batch, number(r.mean_return),
        number(1.96 * r.std_error), number(100 * r.compliance, 1),
        number(100 * r.lost_compliance, 1), number(r.fixes, 1), number(r.worth), r.episodes,
        r.stopped_early ? "yes" : "no", usable(options, r) ? "yes" : "no");
  }
  return section(
      "Evaluations",
      "Batch 0 lies far apart; the others were picked by the upper bounds. Compliance is "
      "that of training; of lost hosts: over fixes, in evaluation, of hosts that red "
      "had, which fixes of clean hosts cannot pad; worth: the return with the order's "
      "reward.",
      "", rows + "</tbody></table>\n");
}

}  // namespace

std::string report_html(const SearchOptions& options, const SearchResult& result) {
  const WorkflowJob& job = options.job;
  std::string html = page::begin_page("Search over workflows", kStyle);
  html += fmt::format(
      "<h1>Search over workflows</h1>\n<p>CAGE Challenge 2 against {}, rules {}. Each order is "
      "trained on {} envs for at "
      "most {} episodes each, an update every {} steps, compliance rule {}; seed {}.{}</p>\n",
      escaped(job.red), escaped(job.rules), job.n_envs, job.train_episodes_per_env,
      job.update_every_steps, escaped(std::string(1, job.compliance_rule)), options.seed,
      options.evaluator == "ppo"
          ? ""
          : " The results are made up: evaluator " + escaped(options.evaluator) + ".");
  html += tiles(options, result) + ranking_section(options, result) +
          heat_section(options, result) + progress_section(options, result) +
          belief_section(options, result) + curve_section(options, result) +
          table_section(options, result);
  return html + page::end_page();
}

void write_results(const std::string& folder, const SearchOptions& options,
                   const SearchResult& result) {
  replace_text(folder + "/search.json", search_json(options, result));
  replace_text(folder + "/orders.csv", orders_csv(options, result));
  replace_text(folder + "/curves.csv", curves_csv(result));
  replace_text(folder + "/regret.csv", regret_csv(result));
  replace_text(folder + "/report.html", report_html(options, result));
}

}  // namespace penstock::cage2
