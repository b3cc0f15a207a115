#include "penstock/domains/booking/compare/report.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <tuple>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/thread_pool.h"
#include "penstock/domains/booking/env/dvrptw.h"
#include "penstock/tools/page/page.h"

using namespace penstock;
using namespace penstock::booking;

namespace {

constexpr std::int64_t kDay = 2;

DvrptwConfig quick() {
  DvrptwConfig config;
  config.oracle = "insertion";
  config.customers = 12;
  config.offer = "widen";
  return config;
}

/// What a report is made of, kept together.
struct Played {
  EvaluationSetup setup;
  Evaluation evaluation;
  Bound bound;

  explicit Played(const DvrptwConfig& config, std::size_t threads = 1)
      : setup{.make_generator = [config] { return generator_of(config); },
              .make_oracle = [config] { return make_search_oracle(config.oracle); },
              .rules = rules_of(config),
              .num_customers = static_cast<std::size_t>(config.customers),
              .days_per_stay = 3} {
    ThreadPool pool({.num_threads = threads});
    pool.use(threads);
    const EvaluationOptions options{
        .days = 6, .versus = "null", .workers = threads, .shown_day = kDay};
    std::vector<NamedPolicy> policies;
    for (const char* name : {"null", "random", "max"}) {
      policies.push_back({name, [name](std::size_t) { return make_offer_policy(name); }});
    }
    evaluation = evaluate_offers(setup, policies, pool, options);
    bound = bound_of(setup, pool, options);
  }
  [[nodiscard]] std::string page(const std::string& shown = "random",
                                 const std::string& setting = "a test") const {
    return report_html({.evaluation = evaluation,
                        .bound = bound,
                        .rules = setup.rules,
                        .shown = shown,
                        .day = kDay,
                        .setting = setting});
  }
};

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

/// Every tag is closed by its own, in the right order, and none but these stands alone.
void check_tags(const std::string& html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    REQUIRE(end != std::string::npos);
    const std::string tag = html.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" /", 1));
    if (tag.starts_with('!') || tag.ends_with('/') || name == "meta") { continue; }
    if (!tag.starts_with('/')) {
      open.push_back(name);
      continue;
    }
    REQUIRE(!open.empty());
    CHECK("/" + open.back() == tag);
    open.pop_back();
  }
  CHECK(open.empty());
}

void check_page(const std::string& html) {
  for (const char* outside : {"http:", "https:", "src=", "href=", "@import", "url(", "<script"}) {
    CHECK_MESSAGE(html.find(outside) == std::string::npos, outside);
  }
  check_tags(html);
  CHECK(html.find("nan") == std::string::npos);
  CHECK(html.find("inf") == std::string::npos);
  CHECK(html.find("prefers-color-scheme: dark") != std::string::npos);
}

std::string cell(const std::string& column, const std::string& text) {
  return fmt::format("<td data-name=\"{}\">{}</td>", column, text);
}

bool contains(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

}  // namespace

TEST_CASE("the page stands alone and shows everything asked for") {
  const Played played(quick());
  const std::string html = played.page();
  check_page(html);
  for (const char* title : {"Policies", "Routes of day 3", "Timetable of day 3", "Offers of day 3",
                            "The price of a promise", "Acceptance by hour"}) {
    CHECK_MESSAGE(contains(html, "<h2>" + std::string(title)), title);
  }
  CHECK(count(html, "<svg") == 2 + 2 + 3 + 1);
  CHECK(count(html, "<div class=\"gain ") == played.evaluation.policies.size() - 1);
  check_page(played.page("null"));
}

TEST_CASE("every number is the evaluation's") {
  const Played played(quick());
  const std::string html = played.page();
  for (const PolicyScore& score : played.evaluation.policies) {
    const PolicyLine line = line_of(played.evaluation, score);
    CAPTURE(score.name);
    CHECK(contains(html,
                   cell("policy", score.name) + cell("reward", page::number(line.reward.mean))));
    CHECK(contains(html, cell("km a day", page::number(line.cost.mean)) +
                             cell("km a served request", page::number(line.per_served, 3))));
    CHECK(contains(html, cell("vehicles", page::number(line.vehicles)) +
                             cell("driver hours", page::number(line.hours, 1))));
    CHECK(contains(html, cell("lost", page::number(100 * line.lost) + " %")));
  }
  // The day that is drawn: its plans' km in map and timetable, and the sums below its offers.
  const DayScore& null = played.evaluation.policy("null").days[kDay];
  const DayScore& shown = played.evaluation.policy("random").days[kDay];
  CHECK(count(html, fmt::format(">null: {:.2f} km<", null.cost / 1e3)) == 2);
  CHECK(count(html, fmt::format(">random: {:.2f} km<", shown.cost / 1e3)) == 2);
  const BookingLog& log = played.evaluation.logs[1];
  const auto refused = static_cast<double>(shown.offers - shown.taken);
  CHECK(contains(
      html, cell("answer", "in all") + cell("minutes given", fmt::format("{}", shown.minutes))));
  CHECK(contains(html, cell("paid, km", page::number(0.02 * shown.minutes + refused)) +
                           cell("routes grew, km", page::number(shown.cost / 1e3))));
  CHECK(log.shown_offers().size() == 12);
  CHECK(count(html, ">taken</i>") == static_cast<std::size_t>(shown.taken));
  CHECK(count(html, ">declined</i>") == static_cast<std::size_t>(refused));
  // A visit for every stop of every plan: map, timetable and windows of both policies.
  CHECK(count(html, "<title>pickup of request 7") == 6);
  // On two maps pickup and drop-off, in two timetables both stops and both windows, in the table a
  // row.
  CHECK(count(html, "req r6\"") == 2 * 2 + 2 * 4 + 1);
  CHECK(count(html, "class=\"stop-number") == 2 * 2 * 12);
  CHECK(contains(html, "main:has(.r6:hover) .req:not(.r6) {"));
}

TEST_CASE("the same bytes whatever the threads, others for other days") {
  const std::string once = Played(quick()).page();
  const bool same = Played(quick(), 2).page() == once;  // a page is too long to be printed
  CHECK(same);
  DvrptwConfig other = quick();
  other.window_minutes = 20;
  const bool differs = Played(other).page() != once;
  CHECK(differs);
}

TEST_CASE("deliveries, requests that fit nowhere and places that are not known") {
  DvrptwConfig config = quick();
  config.mode = "deliver";
  config.generator = "delivery";
  const std::string deliveries = Played(config).page("max");
  check_page(deliveries);
  CHECK(!contains(deliveries, "pickup"));

  config = quick();
  config.vehicles = 1;
  config.customers = 40;
  CHECK(contains(Played(config).page(), "not served</i>"));
  config.walk_away = 1;
  Played crowded(config);
  CHECK(contains(crowded.page(), ">left</i>"));
  CHECK(contains(crowded.page(), "of its customers left"));
  for (BookingLog& log : crowded.evaluation.logs) { log.instance.points.clear(); }
  const std::string html = crowded.page();
  check_page(html);
  CHECK(contains(html, "places of this instance are not known"));
}

TEST_CASE("words from outside are escaped, a policy that was not played is told") {
  const Played played(quick());
  const std::string html = played.page("max", "<script>&\"");
  CHECK(!contains(html, "<script>"));
  CHECK(contains(html, "&lt;script&gt;&amp;&quot;"));
  CHECK_THROWS_WITH_AS(std::ignore = played.page("mx"), doctest::Contains("'max'"), UsageError);
}
