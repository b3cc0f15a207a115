#include "penstock/domains/cage2/search/search.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <thread>

#include "search_support.h"
#include "support/sanitized.h"

namespace search_test {

using namespace penstock;
using namespace penstock::cage2;
using namespace penstock::cage2::test;

TEST_CASE("a search spends its budget on different orders and knows its best") {
  const SearchResult found = run_search(quick_options(), Synthetic{});
  CHECK(found.trials.size() == 20);
  const auto indices = indices_of(found.trials);
  CHECK(std::set<int>(indices.begin(), indices.end()).size() == 20);
  CHECK(std::count_if(found.trials.begin(), found.trials.end(),
                      [](const Trial& t) { return t.batch == 0; }) == 5);
  CHECK(found.trials.back().batch == 8);  // 5, then 15 by twos
  REQUIRE(found.best);
  CHECK(found.ranking.front() == *found.best);
  for (std::size_t i = 1; i < found.ranking.size(); ++i) {
    const auto& above = found.measured[found.ranking[i - 1]].result;
    const auto& below = found.measured[found.ranking[i]].result;
    CHECK((above.compliant || !below.compliant));
    if (above.compliant == below.compliant) { CHECK(above.mean_return >= below.mean_return); }
  }
}

TEST_CASE("the result does not depend on the number of workers nor on which is slow") {
  SearchOptions options = quick_options();
  options.batch = 3;
  options.baselines = true;
  std::set<std::string> journals;
  std::set<std::vector<int>> rankings;
  for (const int workers : {1, 2, 5}) {
    const TempDir dir;
    options.workers = workers;
    options.out = dir.path();
    std::atomic<int> calls = 0;
    const SearchResult found = run_search(options, [&](const WorkflowJob& job) {
      std::this_thread::sleep_for(std::chrono::milliseconds(calls++ % 3 == 0 ? 8 : 1));
      return Synthetic{}(job);
    });
    journals.insert(slurp(dir / "journal.jsonl"));
    rankings.insert(found.ranking);
  }
  CHECK(journals.size() == 1);
  CHECK(rankings.size() == 1);
}

TEST_CASE("as many evaluations run at a time as there are workers") {
  SearchOptions options = quick_options();
  options.batch = 4;
  options.workers = 3;
  std::mutex mutex;
  int now = 0;
  int most = 0;
  run_search(options, [&](const WorkflowJob& job) {
    {
      const std::scoped_lock lock(mutex);
      most = std::max(most, ++now);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::scoped_lock lock(mutex);
    --now;
    return Synthetic{}(job);
  });
  CHECK(most == 3);
}

TEST_CASE("a larger budget begins with the picks of a smaller one") {
  SearchOptions options = quick_options();
  options.num_workflows = 11;  // whole batches
  const auto few = indices_of(run_search(options, Synthetic{}).trials);
  options.num_workflows = 21;
  const auto many = indices_of(run_search(options, Synthetic{}).trials);
  CHECK(std::equal(few.begin(), few.end(), many.begin()));
}

TEST_CASE("runs that do not comply are kept, but not believed") {
  SearchOptions options = quick_options();
  // The disobedient ones would be the best by far.
  const auto evaluate = [](const WorkflowJob& job) {
    WorkflowResult result = Synthetic{.all_comply = true}(job);
    if (job.order[0] == 2) {
      result.compliant = false;
      result.mean_return += 1000;
    }
    return result;
  };
  const SearchResult found = run_search(options, evaluate);
  REQUIRE(found.best);
  CHECK(found.measured[*found.best].result.order[0] != 2);
  const auto stray = std::count_if(found.trials.begin(), found.trials.end(),
                                   [](const Trial& t) { return !t.runs.front().compliant; });
  CHECK(stray > 0);
  CHECK(found.belief.num_observations == 20 - stray);
  CHECK(*std::max_element(found.belief.posterior.mean.begin(), found.belief.posterior.mean.end()) <
        100);

  options.only_compliant = false;
  const SearchResult all = run_search(options, evaluate);
  CHECK(all.measured[*all.best].result.order[0] == 2);
  CHECK(all.belief.num_observations == 20);
}

TEST_CASE("a search in which nothing complies, or nothing is a number, ends without a best") {
  for (const bool broken : {false, true}) {
    SearchOptions options = quick_options();
    options.exhaustive = true;
    const SearchResult found = run_search(options, [&](const WorkflowJob& job) {
      WorkflowResult result = Synthetic{}(job);
      result.compliant = broken;
      if (broken) { result.mean_return = std::numeric_limits<double>::quiet_NaN(); }
      return result;
    });
    CHECK(found.trials.size() == 20);
    CHECK(!found.best);
    CHECK(found.belief.num_observations == 0);
    REQUIRE(found.truth);
    CHECK(found.truth->best == -1);
    CHECK(!found.truth->regret);
  }
}

TEST_CASE("baselines have the budget of the search and share its evaluations") {
  SearchOptions options = quick_options();
  options.baselines = true;
  std::atomic<int> calls = 0;
  std::atomic<int> unconditioned = 0;
  const SearchResult found = run_search(options, [&](const WorkflowJob& job) {
    ++calls;
    unconditioned += job.conditioned ? 0 : 1;
    return Synthetic{}(job);
  });
  REQUIRE(found.baselines);
  CHECK(found.baselines->random.size() == 20);
  CHECK(found.baselines->fixed.size() == 3);
  CHECK(found.baselines->fixed[1].result.order == Order{4, 3, 2, 1, 0});
  CHECK(unconditioned == 1);
  std::set<int> different;
  for (const Trial& t : found.trials) { different.insert(t.index); }
  for (const Trial& t : found.baselines->random) { different.insert(t.index); }
  for (const auto& f : found.baselines->fixed) { different.insert(f.index); }
  CHECK(calls == static_cast<int>(different.size()) + 1);
}

TEST_CASE("regret is measured against all orders, and the search beats chance" *
          doctest::skip(kSanitized)) {
  double gained = 0;
  double best_gained = 0;
  for (std::uint64_t landscape = 1; landscape <= 6; ++landscape) {
    SearchOptions options = quick_options();
    options.exhaustive = true;
    options.repetitions = 20;
    const SearchResult found = run_search(options, Synthetic{.landscape = landscape});
    REQUIRE(found.truth);
    CHECK(found.truth->all.size() == 120);
    const Regret& regret = *found.truth->regret;
    CHECK(regret.own.size() == 20);
    CHECK(regret.search.size() == 20);
    for (const double each : regret.own) { CHECK(each >= 0); }
    CHECK(regret.search.back().mean <= regret.search.front().mean);
    CHECK(regret.search.back().mean == interval_of(regret.search_final).mean);
    gained += regret.mean_gain.mean / 6;
    best_gained += regret.gain.mean / 6;
  }
  MESSAGE("gain over random search: ", best_gained, " at the end, ", gained, " on the way");
  CHECK(best_gained > 1);
  CHECK(gained > 0.5);
}

namespace {

/// A made-up world in which an order complies only if op_server and enterprise come before user:
/// one order of three, and the others the less the later these two come.
WorkflowResult stubborn_world(const Synthetic& world, const WorkflowJob& job) {
  const auto place = [&job](int type) {
    return std::find(job.order.begin(), job.order.end(), type) - job.order.begin();
  };
  const auto late = std::max<std::ptrdiff_t>(place(2) - place(4), 0) +
                    std::max<std::ptrdiff_t>(place(1) - place(4), 0);
  WorkflowResult result = world(job);
  result.compliance = 0.96 - 0.06 * static_cast<double>(late);
  result.compliant = late == 0;
  return result;
}

/// What the search gains on random search in such worlds, at the end; and how many of its picks
/// comply.
std::pair<double, double> gain_in_stubborn_worlds(bool learn_compliance) {
  constexpr int kWorlds = 6;
  double gain = 0;
  double compliant = 0;
  for (std::uint64_t landscape = 1; landscape <= kWorlds; ++landscape) {
    SearchOptions options = quick_options();
    options.exhaustive = true;
    options.repetitions = 20;
    options.learn_compliance = learn_compliance;
    const Synthetic world{.landscape = landscape, .all_comply = true};
    const SearchResult found =
        run_search(options, [&](const WorkflowJob& job) { return stubborn_world(world, job); });
    gain += found.truth->regret->gain.mean / kWorlds;
    compliant += static_cast<double>(
                     std::count_if(found.trials.begin(), found.trials.end(),
                                   [](const Trial& t) { return t.runs.front().compliant; })) /
                 kWorlds;
  }
  return {gain, compliant};
}

}  // namespace

TEST_CASE("where few orders comply the search learns which, and so beats chance" *
          doctest::skip(kSanitized)) {
  const auto [learnt, picks] = gain_in_stubborn_worlds(true);
  const auto [blind, blind_picks] = gain_in_stubborn_worlds(false);
  MESSAGE("gain over random search: ", learnt, ", without learning ", blind, "; picks that comply ",
          picks, " and ", blind_picks);
  CHECK(learnt > 3);
  CHECK(learnt > blind + 1);
  CHECK(picks > blind_picks + 3);
}

TEST_CASE("the ground truth and every repetition have training seeds of their own") {
  SearchOptions options = quick_options();
  options.exhaustive = true;
  options.repetitions = 2;
  options.truth_seeds = 2;
  std::set<std::uint64_t> seeds;
  const SearchResult found = run_search(options, [&](const WorkflowJob& job) {
    CHECK(seeds.insert(job.seed).second);  // nothing is done twice
    return Synthetic{}(job);
  });
  CHECK(seeds.size() > 20 + 2 * 120 + 2 * 20);
  CHECK(found.truth->all.front().runs.size() == 2);
  CHECK(found.truth->regret->search_final.size() == 2);
  for (const double regret : found.truth->regret->search_final) { CHECK(regret >= 0); }
}

TEST_CASE("repetitions that draw from a pool share its trainings, and none is of the truth's") {
  SearchOptions options = quick_options();
  options.all_orders = false;
  options.job.red = "bline";  // six games
  options.num_seeds = 1;
  options.exhaustive = true;
  options.truth_seeds = 2;
  options.num_workflows = 8;
  const auto trained = [&](int repetitions) {
    options.repetitions = repetitions;
    std::map<Order, std::set<std::uint64_t>> seeds;
    run_search(options, [&](const WorkflowJob& job) {
      CHECK(seeds[job.order].insert(job.seed).second);  // nothing is done twice
      return Synthetic{}(job);
    });
    return seeds;
  };
  const std::map<Order, std::set<std::uint64_t>> before = trained(0);
  options.pool = 5;
  const std::map<Order, std::set<std::uint64_t>> with_pool = trained(40);
  std::size_t most = 0;
  for (const auto& [order, seeds] : with_pool) {
    const std::size_t others = before.contains(order) ? before.at(order).size() : 0;
    CHECK(seeds.size() - others <= 5);
    most = std::max(most, seeds.size() - others);
  }
  CHECK(most == 5);
}

namespace {

/// Trainings whose return depends on their seed alone: there is nothing to find.
WorkflowResult luck(const WorkflowJob& job) {
  WorkflowResult result = Synthetic{.all_comply = true}(job);
  result.mean_return = -40 + static_cast<double>(job.seed % 1000) / 100;
  return result;
}

SearchOptions few_games(const char* red) {
  SearchOptions options = quick_options();
  options.all_orders = false;
  options.num_seeds = 3;
  options.job.red = red;
  return options;
}

}  // namespace

TEST_CASE("a lucky seed is no advantage: regret is by trainings that the search has not seen") {
  SearchOptions options = few_games("bline");
  options.num_seeds = 1;
  options.exhaustive = true;
  options.truth_seeds = 400;
  options.repetitions = 10;
  const SearchResult found = run_search(options, luck);
  double highest = -40;
  for (const Measured& order : found.truth->all) {
    CHECK(order.runs.size() == 400);
    highest = std::max(highest, order.result.mean_return);
  }
  // Uniform on 0 to 9.99: a mean of 400 has the deviation 2.887 / 20.
  CHECK(highest < -35 + 4 * 0.145);
  for (const double regret : found.truth->regret->search_final) { CHECK(regret < 8 * 0.145); }
}

TEST_CASE("one order of each game is searched, the promising again with further seeds") {
  for (const auto& [red, games] : {std::pair{"bline", 6}, {"meander", 24}}) {
    std::map<int, int> trainings;
    std::set<std::uint64_t> seeds;
    const SearchResult found = run_search(few_games(red), [&](const WorkflowJob& job) {
      CHECK(seeds.insert(job.seed).second);
      ++trainings[search::index_of(job.order)];
      return Synthetic{.noise = 3, .all_comply = true}(job);
    });
    CHECK(static_cast<int>(found.candidates.size()) == games);
    CHECK(found.trials.size() == 20);
    CHECK(seeds.size() == 60);
    for (const Measured& order : found.measured) {
      CHECK(std::ranges::count(found.candidates, order.index) == 1);
      CHECK(static_cast<int>(order.runs.size()) == trainings[order.index]);
      CHECK(order.runs.size() % 3 == 0);
    }
    CHECK(found.noise.freedom == 60 - static_cast<int>(found.measured.size()));
    const auto runs_of = [&](int place) { return found.measured[place].runs.size(); };
    CHECK(runs_of(*found.best) > runs_of(found.ranking.back()));
  }
}

TEST_CASE("games that comply are not all that is looked at where some do not") {
  const SearchResult found = run_search(few_games("meander"), Synthetic{});
  const auto compliant = std::ranges::count_if(
      found.measured, [](const Measured& order) { return order.result.compliant; });
  CHECK(compliant < std::ssize(found.measured));
  CHECK(found.measured.size() >= 15);
}

TEST_CASE("random search has the budget, and evaluates none again before all were") {
  SearchOptions options = few_games("bline");
  options.baselines = true;
  const SearchResult found = run_search(options, Synthetic{});
  std::map<int, int> evaluations;
  for (const Trial& trial : found.baselines->random) {
    ++evaluations[trial.index];
    CHECK(trial.runs.size() == 3);
  }
  CHECK(found.baselines->random.size() == 20);
  CHECK(evaluations.size() == 6);
  for (const auto& order : evaluations) { CHECK((order.second == 3 || order.second == 4)); }
  CHECK(found.baselines->unconditioned.runs.size() == 3);
}

TEST_CASE("noise is the variance of trainings about the mean of their order") {
  const auto run = [](double value, double std_error) {
    WorkflowResult result{};
    result.mean_return = value;
    result.std_error = std_error;
    result.compliant = true;
    return result;
  };
  // Order 7: 1, 3, 5 about 3, in two evaluations; order 9: 10 and 16 about 13; order 2 once.
  // Squares 8 and 18, degrees of freedom 2 and 1.
  const std::vector<Trial> trials = {{7, 0, {run(1, 1), run(3, 1)}},
                                     {9, 0, {run(10, 1), run(16, 1)}},
                                     {2, 1, {run(100, 1)}},
                                     {7, 1, {run(5, 1)}}};
  const std::vector<Measured> orders = measured_of(trials);
  REQUIRE(orders.size() == 3);
  CHECK(orders[0].index == 7);
  CHECK(orders[0].runs.size() == 3);
  CHECK(orders[0].result.mean_return == doctest::Approx(3));
  const Noise noise = noise_of(orders);
  CHECK(noise.freedom == 3);
  CHECK(noise.variance == doctest::Approx(26.0 / 3));
  CHECK(orders[0].result.std_error == doctest::Approx(std::sqrt(26.0 / 9)));
  CHECK(orders[1].result.std_error == doctest::Approx(std::sqrt(26.0 / 6)));
  CHECK(orders[2].result.std_error == doctest::Approx(std::sqrt(26.0 / 3)));
  CHECK(half_width(orders[0].result, noise) ==
        doctest::Approx(3.18245 * std::sqrt(26.0 / 9)));  // t of 3 degrees

  // One training each: nothing is known but the episodes.
  const std::vector<Measured> once = measured_of({{7, 0, {run(1, 0.5)}}, {9, 0, {run(2, 0.25)}}});
  CHECK(noise_of(once).freedom == 0);
  CHECK(once[0].result.std_error == 0.5);
  CHECK(half_width(once[1].result, noise_of(once)) == doctest::Approx(1.96 * 0.25));
}

TEST_CASE("an order complies when most of its trainings do") {
  for (int compliant = 0; compliant <= 3; ++compliant) {
    std::vector<WorkflowResult> runs(3);
    for (int k = 0; k < 3; ++k) { runs[k].compliant = k < compliant; }
    CHECK(measured_of({{0, 0, runs}}).front().result.compliant == (compliant >= 2));
  }
}

TEST_CASE("intervals are Student's") {
  const Interval one = interval_of({3});
  CHECK(one.low == 3);
  CHECK(one.high == 3);
  const Interval two = interval_of({1, 3});
  CHECK(two.mean == 2);
  CHECK(two.high == doctest::Approx(2 + 12.7062));
  CHECK(two.low_99 == doctest::Approx(2 - 63.6567));
  const Interval ten = interval_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  CHECK(ten.low == doctest::Approx(5.5 - 2.26216 * std::sqrt(55.0 / 6 / 10)));
  CHECK(ten.high_99 == doctest::Approx(5.5 + 3.24984 * std::sqrt(55.0 / 6 / 10)));
}

TEST_CASE("options that cannot be are refused by name") {
  const auto refused = [](auto change, const char* text) {
    SearchOptions options = quick_options();
    change(options);
    CHECK_THROWS_WITH_AS(run_search(options, Synthetic{}), doctest::Contains(text), ConfigError);
  };
  refused([](auto& o) { o.num_workflows = 121; }, "n_workflows = 121");
  refused([](auto& o) { o.num_workflows = 0; }, "n_workflows = 0");
  refused(
      [](auto& o) {
        o.all_orders = false;
        o.num_seeds = 3;
        o.num_workflows = 342;
      },
      "n_workflows = 342");
  refused([](auto& o) { o.num_seeds = 0; }, "seeds = 0");
  refused([](auto& o) { o.truth_seeds = 0; }, "truth_seeds = 0");
  refused([](auto& o) { o.batch = 0; }, "batch");
  refused([](auto& o) { o.workers = 0; }, "workers");
  refused([](auto& o) { o.beta = -1; }, "beta");
  refused([](auto& o) { o.delta = 1; }, "delta");
  SearchOptions options = quick_options();
  options.num_workflows = 120;
  options.batch = 50;
  CHECK(run_search(options, Synthetic{}).trials.size() == 120);
}

}  // namespace search_test
