#include "penstock/domains/cage2/search/report.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "search_support.h"

namespace report_test {

using namespace penstock;
using namespace penstock::cage2;
using namespace penstock::cage2::test;
using nlohmann::json;

namespace {

SearchOptions everything() {
  SearchOptions options = quick_options();
  options.baselines = true;
  options.exhaustive = true;
  options.repetitions = 3;
  return options;
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

void check_same_columns(const std::string& csv, std::size_t lines) {
  CHECK(num_lines(csv) == lines);
  std::istringstream stream(csv);
  std::string line;
  std::getline(stream, line);
  const auto commas = std::count(line.begin(), line.end(), ',');
  while (std::getline(stream, line)) { CHECK(std::count(line.begin(), line.end(), ',') == commas); }
}

void check_page(const std::string& html) {
  for (const char* outside : {"http:", "https:", "src=", "href=", "@import", "url(", "<script"}) {
    CHECK_MESSAGE(html.find(outside) == std::string::npos, outside);
  }
  CHECK(count(html, "<svg") == count(html, "</svg>"));
  CHECK(count(html, "<section") == count(html, "</section>"));
  CHECK(html.find("nan") == std::string::npos);
  CHECK(html.find("inf") == std::string::npos);
  CHECK(html.find("prefers-color-scheme: dark") != std::string::npos);
}

}  // namespace

TEST_CASE("the page stands alone and shows everything asked for") {
  const SearchOptions options = everything();
  const SearchResult result = run_search(options, Synthetic{});
  const std::string html = report_html(options, result);
  check_page(html);
  for (const char* title : {"Ranking", "Which type where", "Regret", "All 120 orders",
                            "Learning and compliance", "Orders"}) {
    CHECK_MESSAGE(html.find("<h2>" + std::string(title)) != std::string::npos, title);
  }
  CHECK(count(html, "<svg") == 7);
  CHECK(html.find("made up") != std::string::npos);
}

TEST_CASE("a page of a search alone, and of one that found nothing") {
  SearchOptions options = quick_options();
  const std::string alone = report_html(options, run_search(options, Synthetic{}));
  check_page(alone);
  CHECK(alone.find("<h2>Progress") != std::string::npos);
  CHECK(alone.find("<h2>Regret") == std::string::npos);

  options = everything();
  const auto broken = [](const WorkflowJob& job) {
    WorkflowResult result = Synthetic{}(job);
    result.mean_return = std::numeric_limits<double>::quiet_NaN();
    result.std_error = std::numeric_limits<double>::infinity();
    result.curve.clear();
    return result;
  };
  const SearchResult nothing = run_search(options, broken);
  const std::string html = report_html(options, nothing);
  check_page(html);
  CHECK(html.find("No order complied") != std::string::npos);
  CHECK(json::parse(summary_json(options, nothing))["best"].is_null());
  check_same_columns(orders_csv(options, nothing), 121);
}

namespace {

/// How many cells of the page's heat maps have a colour.
std::size_t coloured(const std::string& html) {
  return count(html, "fill-opacity=\"0.") - count(html, "fill-opacity=\"0.000\"");
}

SearchOptions replicated() {
  SearchOptions options = quick_options();
  options.all_orders = false;
  options.num_seeds = 3;
  return options;
}

}  // namespace

TEST_CASE("the page says what is noise: no colour without an interval that leaves out 0") {
  const SearchOptions options = replicated();
  const SearchResult told = run_search(options, Synthetic{.noise = 0.01, .all_comply = true});
  const std::string clear = report_html(options, told);
  check_page(clear);
  CHECK(coloured(clear) > 0);
  CHECK(clear.find("standard deviation between training seeds") != std::string::npos);
  CHECK(clear.find("<h2>All 6 orders") != std::string::npos);

  // Returns of the seed alone.
  const SearchResult noise = run_search(options, [](const WorkflowJob& job) {
    WorkflowResult result = Synthetic{.all_comply = true}(job);
    result.mean_return = -40 + static_cast<double>(job.seed % 1000) / 10;
    return result;
  });
  CHECK(coloured(report_html(options, noise)) == 0);
}

TEST_CASE("without replicates the page does not claim to know the noise") {
  const SearchOptions options = quick_options();
  const SearchResult result = run_search(options, Synthetic{});
  const std::string html = report_html(options, result);
  CHECK(html.find("No order was trained twice") != std::string::npos);
  CHECK(html.find("random search") == std::string::npos);  // there was none
  CHECK(json::parse(search_json(options, result))["noise"]["variance"].is_null());
  const SearchResult sure = run_search(options, Synthetic{.noise = 1e-6, .all_comply = true});
  CHECK(coloured(report_html(options, sure)) == 0);  // however small its intervals
}

TEST_CASE("99 % intervals of orders and repetitions are told") {
  const SearchOptions options = replicated();
  const SearchResult result = run_search(options, Synthetic{.all_comply = true});
  const json told = json::parse(search_json(options, result));
  REQUIRE(result.noise.freedom == 54);
  constexpr double kStudent99 = 2.66998;  // by integrating the density
  for (const json& order : told["orders"]) {
    const double half = kStudent99 * std::sqrt(result.noise.variance / order["runs"].size());
    CHECK(order["ci99"][0] ==
          doctest::Approx(order["mean_return"].get<double>() - half).epsilon(1e-4));
    CHECK(order["ci99"][1] ==
          doctest::Approx(order["mean_return"].get<double>() + half).epsilon(1e-4));
    CHECK(order["half_width"] < half);
  }
  CHECK(told["best"]["ci99"].size() == 2);
}

TEST_CASE("a hyperparameter at an end of its range is not called fitted") {
  const SearchOptions options = replicated();
  SearchResult result = run_search(options, Synthetic{.noise = 0.01, .all_comply = true});
  for (const bool at_bound : {false, true}) {
    result.belief.lambda_at_bound = at_bound;
    const std::string html = report_html(options, result);
    CHECK((html.find("λ of the kernel, fitted") == std::string::npos) == at_bound);
    CHECK((html.find("at an end of its range") != std::string::npos) == at_bound);
  }
  // One order only: any length scale explains it.
  const auto same = [](const WorkflowJob& job) {
    WorkflowResult r = Synthetic{.all_comply = true}(job);
    r.mean_return = -40;
    return r;
  };
  CHECK(run_search(options, same).belief.lambda_at_bound);
}

TEST_CASE("progress is drawn in steps over whole evaluations") {
  SearchOptions options = quick_options();
  options.num_workflows = 5;
  const std::string html = report_html(options, run_search(options, Synthetic{}));
  const std::size_t chart = html.find("Best mean return by number of evaluations");
  REQUIRE(chart != std::string::npos);
  const std::string svg = html.substr(chart, html.find("</svg>", chart) - chart);
  const std::size_t path = svg.find("class=\"curve search\"");
  REQUIRE(path != std::string::npos);
  const std::size_t line = svg.rfind('\n', path) + 1;
  std::istringstream data(svg.substr(svg.find("d=\"M", line) + 4));
  double x = 0;
  double y = 0;
  char letter = 'L';
  for (double last_x = 0, last_y = 0; letter == 'L' && data >> x >> y; last_x = x, last_y = y) {
    if (last_x > 0) { CHECK((x == last_x || y == last_y)); }
    data >> letter;
  }
  CHECK(svg.find(">1.5<") == std::string::npos);
  CHECK(svg.find(">2<") != std::string::npos);
}

TEST_CASE("names that come from outside are escaped") {
  SearchOptions options = quick_options();
  options.job.red = "<script>&\"";
  const std::string html = report_html(options, run_search(options, Synthetic{}));
  CHECK(html.find("<script>") == std::string::npos);
  CHECK(html.find("&lt;script&gt;&amp;&quot;") != std::string::npos);
}

TEST_CASE("tables hold what was found") {
  const SearchOptions options = everything();
  const SearchResult result = run_search(options, Synthetic{});
  check_same_columns(orders_csv(options, result), 121);
  check_same_columns(regret_csv(result), 21);
  check_same_columns(curves_csv(result), 1 + (20 + 20 + 3 + 1) * 20);

  const json whole = json::parse(search_json(options, result));
  CHECK(whole["trials"].size() == 20);
  CHECK(whole["ranking"][0] == whole["best"]["index"]);
  CHECK(whole["belief"]["mean"].size() == 120);
  CHECK(whole["exhaustive"]["all"].size() == 120);
  const json summary = json::parse(summary_json(options, result));
  CHECK(summary["best"] == whole["best"]);
  CHECK(summary["exhaustive"]["regret"]["repetitions"] == 3);
  CHECK(num_lines(summary_json(options, result)) == 0);
}

TEST_CASE("results are files of the folder, the same for a search that was resumed") {
  const TempDir dir;
  SearchOptions options = everything();
  options.out = dir.path();
  write_results(options.out, options, run_search(options, Synthetic{}));
  const std::vector<std::string> names = {"search.json", "orders.csv", "curves.csv", "regret.csv",
                                          "report.html"};
  std::vector<std::string> first;
  for (const auto& name : names) { first.push_back(slurp(dir / name)); }
  write_results(options.out, options, run_search(options, Synthetic{}));
  for (std::size_t i = 0; i < names.size(); ++i) { CHECK(slurp(dir / names[i]) == first[i]); }
}

}  // namespace report_test
