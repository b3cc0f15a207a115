#include "penstock/domains/cage2/search/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
.belief { stroke: var(--search); stroke-opacity: .18; stroke-width: 11; } .believed { stroke: var(--search); stroke-opacity: .25; stroke-width: 5; }
.curve.own { stroke-width: 1.6; stroke-dasharray: 5 4; }
.thin { fill: none; stroke: var(--truth); stroke-opacity: .55; stroke-width: 1; }
.thin.stray { stroke: var(--stray); } .threshold { stroke: var(--soft); stroke-dasharray: 3 4; }
.warm { fill: var(--search); } .cool { fill: var(--random); }
)";

std::string with_interval(const Interval& i) {
  return fmt::format("{} ({} to {})", number(i.mean), number(i.low), number(i.high));
}

std::string runs_text(std::size_t count) {
  return fmt::format("{} training seed{}", count, count == 1 ? "" : "s");
}

std::string best_tiles(const SearchResult& result) {
  if (!result.best) { return tile("No order complied", "there is nothing to rank", true); }
  const Measured& best = result.measured[*result.best];
  const WorkflowResult& r = best.result;
  return tile(order_text(r.order), "the best order found", true) +
         tile(number(r.mean_return) + " ± " + number(half_width(r, result.noise)),
              "its mean return, " + runs_text(best.runs.size())) +
         tile(number(100 * r.compliance, 1) + " %", "its compliance");
}

std::string noise_tile(const Noise& noise) {
  if (noise.freedom == 0) { return tile("not known", "what a training seed changes"); }
  return tile(number(std::sqrt(noise.variance)), "standard deviation between training seeds");
}

std::string tiles(const SearchOptions& options, const SearchResult& result) {
  std::string html = "<div class=\"tiles\">\n" + best_tiles(result);
  const auto counted = std::ranges::count_if(
      result.measured, [&](const Measured& order) { return usable(options, order.result); });
  html += tile(fmt::format("{} of {}", counted, result.measured.size()), "orders that count");
  html += noise_tile(result.noise);
  if (result.belief.num_observations > 0) {
    html += result.belief.lambda_at_bound
                ? tile("not told", "λ of the kernel: at an end of its range")
                : tile(number(result.belief.hyper.lambda, 3), "λ of the kernel, fitted");
  }
  if (result.truth && result.truth->regret) {
    html += tile(number(result.truth->regret->own.back()), "regret of this search");
    const int rank = result.truth->rank_of_best;
    html += tile(rank > 0 ? fmt::format("{} of {}", rank, result.truth->all.size()) : "none",
                 "rank of the best order among all, by fresh seeds");
  }
  return html + "</div>\n";
}

/// How much of what is shown is noise.
std::string noise_text(const SearchResult& result) {
  if (result.noise.freedom == 0) {
    return "No order was trained twice: intervals are those of the evaluation's episodes, and what "
           "another training seed would change is not known. The ranking may be noise.";
  }
  return fmt::format(
      "Intervals are those of the mean over training seeds. Trainings of one order differ by a "
      "standard deviation of {} ({} degrees of freedom, pooled over orders): orders whose "
      "intervals "
      "overlap are not told apart.",
      number(std::sqrt(result.noise.variance)), result.noise.freedom);
}

std::string ranking_section(const SearchOptions& options, const SearchResult& result) {
  std::vector<std::pair<std::string, std::string>> key = {
      {"search", "measured, with its 95 % interval; behind it what is believed"},
      {".open", "did not comply: kept out"}};
  if (result.baselines) { key.emplace_back("base", "fixed orders and PPO without an order"); }
  return section("Ranking",
                 fmt::format("Mean return of the trained policies, {} episodes of each. {}",
                             options.job.eval_episodes, noise_text(result)),
                 key_line(key), detail::ranking_chart(options, result));
}

std::string heat_section(const SearchOptions& options, const SearchResult& result) {
  std::string body =
      "<div class=\"pair\">\n" + detail::heat_map(detail::believed_heat(result), "as believed");
  if (result.truth) {
    body += detail::heat_map(detail::true_heat(options, result), "as trained with fresh seeds");
  }
  return section(
      "Which type where",
      "How much the mean return of orders with a type at a place lies above or below that of all "
      "orders. Cells have a colour where the 95 % interval leaves out 0, and only where orders "
      "were "
      "trained more than once; the others may be noise.",
      "", body + "</div>\n");
}

std::string progress_section(const SearchOptions& options, const SearchResult& result) {
  std::vector<std::pair<std::string, std::string>> key = {{"search", "search"}};
  if (!result.truth || !result.truth->regret) {
    if (result.baselines) { key.emplace_back("random", "random search"); }
    return section("Progress",
                   "What was measured of the order that was best by then. The largest of several "
                   "noisy numbers is too high, the more so the more there are.",
                   key_line(key), detail::progress_chart(options, result));
  }
  const Regret& regret = *result.truth->regret;
  const Measured& top = result.truth->all[result.truth->best];
  std::string text = fmt::format(
      "How far the order that would be chosen lies behind the best of all {}, {} ({}). Both by {} "
      "of each order that no search saw.",
      result.truth->all.size(), escaped(order_text(top.result.order)),
      number(top.result.mean_return), runs_text(top.runs.size()));
  if (!regret.search.empty()) {
    key.emplace_back("random", "random search");
    text += fmt::format(
        " After {} evaluations, over {} repetitions with training seeds of their own: search {}, "
        "random search {}, difference {}; 95 % intervals.",
        regret.own.size(), regret.search_final.size(), with_interval(regret.search.back()),
        with_interval(regret.random.back()), with_interval(regret.gain));
  }
  key.emplace_back("own", "this search");
  return section("Regret", text, key_line(key), detail::progress_chart(options, result));
}

std::string belief_section(const SearchOptions& options, const SearchResult& result) {
  std::vector<std::pair<std::string, std::string>> key = {
      {"search", "belief with its 95 % interval; dots were evaluated"},
      {".open", "did not comply"}};
  if (result.truth) { key.emplace_back("truth", "trained with fresh seeds"); }
  const Belief& belief = result.belief;
  return section(
      fmt::format("All {} orders", result.candidates.size()),
      fmt::format("A Gaussian process over orders, Mallows kernel: λ = {}{}, signal variance {}, "
                  "noise {}, {} observations.",
                  number(belief.hyper.lambda, 4),
                  belief.lambda_at_bound ? " (an end of its range: the data do not tell it)" : "",
                  number(belief.hyper.signal_variance),
                  result.noise.freedom > 0 ? "from trainings of the same order"
                                           : "of the evaluation's episodes alone",
                  belief.num_observations),
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

std::string table_row(const SearchOptions& options, const SearchResult& result, int rank,
                      const Measured& order) {
  const WorkflowResult& r = order.result;
  const auto compliant = std::ranges::count_if(order.runs, &WorkflowResult::compliant);
  return fmt::format(
      "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{} "
      "%</td><td>{}</td><td>{} %</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
      rank, escaped(order_text(r.order)), order.runs.size(), number(r.mean_return),
      number(half_width(r, result.noise)), number(100 * r.compliance, 1), compliant,
      number(100 * r.lost_compliance, 1), number(r.fixes, 1), number(r.worth), r.episodes,
      usable(options, r) ? "yes" : "no");
}

std::string table_section(const SearchOptions& options, const SearchResult& result) {
  std::string rows =
      "<table><thead><tr><th>#</th><th>order</th><th>runs</th><th>mean return</th><th>± 95 %</th>"
      "<th>compliance</th><th>complied</th><th>of lost hosts</th><th>fixes</th><th>worth</th>"
      "<th>episodes</th><th>counts</th></tr></thead><tbody>\n";
  int rank = 0;
  for (const int place : result.ranking) {
    rows += table_row(options, result, ++rank, result.measured[place]);
  }
  return section(
      "Orders",
      "Means over the runs, one for each training seed. Compliance is that of training; of lost "
      "hosts: over fixes, in evaluation, of hosts that red had, which fixes of clean hosts cannot "
      "pad; worth: the return with the order's reward. An order counts when most of its runs "
      "comply.",
      "", rows + "</tbody></table>\n");
}

std::string settings_text(const SearchOptions& options) {
  std::string text;
  for (const std::string& setting : options.settings) {
    text += fmt::format("{} {}", text.empty() ? " Set:" : ",", escaped(setting));
  }
  return text.empty() ? text : text + ".";
}

}  // namespace

std::string report_html(const SearchOptions& options, const SearchResult& result) {
  const WorkflowJob& job = options.job;
  std::string html = page::begin_page("Search over workflows", kStyle);
  html += fmt::format(
      "<h1>Search over workflows</h1>\n<p>CAGE Challenge 2 against {}, rules {}. Each order is "
      "trained on {} envs for at "
      "most {} episodes each, an update every {} steps, compliance rule {}; seed {}; {} an "
      "evaluation.{}{}</p>\n",
      escaped(job.red), escaped(job.rules), job.n_envs, job.train_episodes_per_env,
      job.update_every_steps, escaped(std::string(1, job.compliance_rule)), options.seed,
      runs_text(static_cast<std::size_t>(options.num_seeds)), settings_text(options),
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
