#include "penstock/domains/booking/env/dvrptw.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include "penstock/core/base/errors.h"
#include "play.h"
#include "support/allocations.h"

namespace penstock::booking {
namespace {

using test::metric;
using test::Play;

DvrptwConfig quick(const std::string& obs = "list") {
  DvrptwConfig config;
  config.oracle = "insertion";
  config.obs = obs;
  return config;
}

}  // namespace

TEST_CASE("the null policy by insertion drives 244.9 km in the city") {
  Play play(quick(), 100);
  play.reset();
  double sum = 0;
  double squares = 0;
  int days = 0;
  for (int t = 0; t < 20 * 30; ++t) {
    play.step();
    if (!play.terminated[0]) { continue; }
    for (const EpisodeEnd& end : play.episode) {
      sum += end.stats[0];
      squares += end.stats[0] * end.stats[0];
      ++days;
      CHECK(end.length == 30);
      CHECK(end.total_reward == doctest::Approx(-end.stats[0] - 50 * 30 * end.stats[1]));
      CHECK(end.stats[2] == 0);
      CHECK(end.stats[3] == 0);
    }
  }
  CHECK(days == 2000);
  const double mean = sum / days;
  MESSAGE("mean ", mean, " km, standard error ", std::sqrt((squares / days - mean * mean) / days));
  CHECK(std::abs(mean - 244.9) < 2);
}

TEST_CASE("the observations have the shapes of the source") {
  CHECK(Play(quick("list"), 1).env->spec().obs.parts()[0].shape ==
        std::vector<std::int64_t>{30, 6});
  const Play hist(quick("hist"), 1);
  CHECK(hist.env->spec().obs.part("hist").shape == std::vector<std::int64_t>{606, 2});
  CHECK(hist.env->spec().obs.num_features() == 1212);
  CHECK(hist.env->spec().obs.size() == 180);  // what a row keeps
  const Play set(quick("set"), 1);
  const Layout& layout = set.env->spec().obs;
  CHECK(layout.part("tokens").shape == std::vector<std::int64_t>{31, 16});
  CHECK(layout.part("savings").size == 16);
  CHECK(layout.part("chances").size == 16);
  CHECK(layout.part("values").size == 16);
  CHECK(layout.part("belief").size == 4);
  DvrptwConfig with_belief = quick("hist");
  with_belief.belief = true;
  CHECK(Play(with_belief, 1).env->spec().obs.num_features() == 1212 + 4);
}

TEST_CASE("the histogram counts six for every promise and six for the caller") {
  DvrptwConfig config = quick("hist");
  config.vehicles = 2;  // so that some are not promised
  Play play(config, 3);
  play.reset();
  std::vector<double> promised(3, 0);
  std::vector<float> hist(1212);
  for (int t = 0; t < 120; ++t) {
    for (std::size_t i = 0; i < 3; ++i) {
      double counts = 0;
      double caller = 0;
      play.env->spec().obs.expand(play.row(i), hist);
      for (std::size_t k = 0; k < 606; ++k) {
        counts += hist[2 * k];
        caller += hist[2 * k + 1];
      }
      CHECK(caller == 6);
      CHECK(std::fmod(counts, 6) == 0);
      CHECK(counts >= promised[i]);
      promised[i] = counts;
    }
    play.random_step();
    if (play.terminated[0]) {
      for (std::size_t i = 0; i < 3; ++i) {
        double counts = 0;
        play.env->spec().obs.expand(std::span(play.final_obs).subspan(i * 180, 180), hist);
        for (std::size_t k = 0; k < 606; ++k) { counts += hist[2 * k]; }
        CHECK(counts == doctest::Approx(6 * 30 * (1 - play.episode[i].stats[1])));
        promised[i] = 0;
      }
    }
  }
}

TEST_CASE("the list grows from the top, the caller stands in the last row") {
  Play play(quick("list"), 1);
  play.reset();
  for (int t = 0; t < 30; ++t) {
    const auto row = play.row(0);
    for (std::size_t k = 0; k < 29; ++k) {
      const bool there = static_cast<int>(k) < t;
      CHECK((row[6 * k] >= 0) == there);
      CHECK(row[6 * k] == std::floor(row[6 * k]));
      CHECK(row[6 * k] < 207);
    }
    CHECK(row[6 * 29] >= 0);
    CHECK(row[6 * 29 + 1] < row[6 * 29 + 2]);
    const std::vector<float> caller(row.end() - 6, row.end());
    play.step();  // changes nothing, so the promise is what was wished
    if (t < 29) { CHECK(std::equal(caller.begin(), caller.end(), play.row(0).begin() + 6 * t)); }
  }
}

TEST_CASE("the set prices all offers against changing nothing, and tells chances and belief") {
  DvrptwConfig config = quick("set");
  config.offer = "widen";
  Play play(config, 4);
  play.reset();
  const Layout& layout = play.env->spec().obs;
  double largest = 0;
  for (int t = 0; t < 90; ++t) {
    for (std::size_t i = 0; i < 4; ++i) {
      const auto part = [&](const char* name) {
        const Part& at = layout.part(name);
        return play.row(i).subspan(at.offset, at.size);
      };
      CHECK(part("savings")[kNoChange] == 0);
      CHECK(part("chances")[kNoChange] == 1);
      for (const float saving : part("savings")) {
        CHECK(saving >= 0);  // a wider window never costs more
        largest = std::max(largest, static_cast<double>(saving));
      }
      CHECK(std::accumulate(part("belief").begin(), part("belief").end(), 0.0F) ==
            doctest::Approx(1));
      const auto tokens = part("tokens");
      CHECK(tokens[0] == 1);
      CHECK(tokens[30 * 16 + 2] == 1);
      for (const float value : tokens) { CHECK(std::abs(value) < 25); }
    }
    play.random_step();
  }
  CHECK(largest > 0.1);
}

TEST_CASE("too few vehicles: requests go unserved, the day goes on") {
  DvrptwConfig config = quick();
  config.vehicles = 1;
  Play play(config, 10);
  play.reset();
  for (int t = 0; t < 30; ++t) { play.step(); }
  for (const EpisodeEnd& end : play.episode) {
    CHECK(end.length == 30);
    CHECK(end.stats[1] > 0);
    CHECK(end.stats[1] < 1);
    CHECK(end.total_reward == doctest::Approx(-end.stats[0] - 50 * 30 * end.stats[1]));
  }
}

TEST_CASE("who is sent away costs as much as who fits nowhere, and is a failure") {
  DvrptwConfig config = quick();
  config.walk_away = 1;
  CHECK(rules_of(config).lost == rules_of(config).unserved);
  Play play(config, 10);
  play.reset();
  std::ranges::fill(play.actions, 3);  // 30 minutes both ways, which one type in four takes
  for (int t = 0; t < 30; ++t) { play.step(); }
  for (const EpisodeEnd& end : play.episode) {
    const double left = 30 * end.stats[1];
    CHECK(left == doctest::Approx(30 * (1 - end.stats[2])));
    CHECK(left > 10);
    const double minutes = 30 * end.stats[3];
    CHECK(end.total_reward == doctest::Approx(-end.stats[0] - 51 * left - 0.02 * minutes));
  }
}

TEST_CASE("a customer who leaves cannot be cheaper than one who fits nowhere") {
  DvrptwConfig config;
  config.unserved = 80;
  CHECK(rules_of(config).lost == 80'000);
  config.lost = 120;
  CHECK(rules_of(config).lost == 120'000);
  config.lost = 79;
  CHECK_THROWS_WITH_AS(std::ignore = rules_of(config),
                       doctest::Contains("set env.lost to 80 or more"), UsageError);
}

TEST_CASE("days of driving time are minutes, and a km is paid for as 2.5 of them") {
  // Both customers lie 700 s from the depot, 500 s on the way back and 100 s from each other.
  const auto path = std::filesystem::temp_directory_path() / "penstock_env_seconds.txt";
  std::ofstream(path) << "DIMENSION : 3\nCAPACITY : 9\nEDGE_WEIGHT_TYPE : EXPLICIT\n"
                         "EDGE_WEIGHT_SECTION\n0 700 700\n500 0 100\n500 100 0\n"
                         "TIME_WINDOW_SECTION\n1 0 36000\n2 0 18000\n3 0 18000\n";
  DvrptwConfig config = quick("set");
  config.generator = "ortec";
  config.mode = "deliver";
  config.file = path.string();
  config.customers = 2;
  const BookingRules rules = rules_of(config);
  CHECK(rules.per_minute == 3);  // 0.02 km at 24 km/h
  CHECK(rules.rejection == 150);
  CHECK(rules.unserved == 7500);
  Play play(config, 1);
  CHECK(play.env->spec().stats[0] == "cost_min");
  play.reset();
  play.step();
  CHECK(play.reward[0] == doctest::Approx(-20));  // 1,200 s
  play.step();
  CHECK(play.reward[0] == doctest::Approx(-100.0 / 60));
  CHECK(play.episode[0].stats[0] == doctest::Approx(1300.0 / 60));
  std::filesystem::remove(path);
}

TEST_CASE("neither reset nor step allocates") {
  for (const char* obs : {"list", "hist", "set"}) {
    DvrptwConfig config = quick(obs);
    config.mask = "bayes";
    Play play(config, 8);
    play.reset();
    for (int t = 0; t < 90; ++t) { play.random_step(); }
    penstock::test::largest_allocation();
    for (int t = 0; t < 90; ++t) { play.random_step(); }
    CHECK(penstock::test::largest_allocation() == 0);
  }
}

TEST_CASE("people are the same in all envs and on all days, until others come") {
  DvrptwConfig config = quick();
  config.mask = "known";
  // Which types call on a day: the number of offers that each allows.
  const auto types_seen = [](Play& play, std::size_t env) {
    std::multiset<std::ptrdiff_t> seen;
    for (int t = 0; t < 30; ++t) {
      seen.insert(std::count(play.mask(env), play.mask(env) + kNumOffers, true));
      play.random_step();
    }
    return seen;
  };
  Play play(config, 2);
  play.reset();
  const auto first = types_seen(play, 0);
  CHECK(types_seen(play, 1) == first);
  CHECK(types_seen(play, 0) == first);
  CHECK(play.episode[0].stats[2] == 1);  // what is known to be taken is taken

  config.people = 2;
  Play others(config, 1);
  others.reset();
  CHECK(types_seen(others, 0) != first);

  config.people = 1;
  config.stay_days = 2;
  Play moving(config, 1);
  moving.reset();
  CHECK(types_seen(moving, 0) == first);
  CHECK(types_seen(moving, 0) == first);
  CHECK(types_seen(moving, 0) != first);
}

TEST_CASE("refusals cost what the config says") {
  DvrptwConfig config = quick();
  config.rho = 0;
  config.rejection = 0;
  DvrptwConfig dear = config;
  dear.rejection = 2.5;
  Play free(config, 20);
  Play costly(dear, 20);
  free.reset();
  costly.reset();
  for (int t = 0; t < 30; ++t) {
    free.random_step();
    costly.random_step();
  }
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK(free.episode[i].stats == costly.episode[i].stats);
    const double refused = (free.episode[i].total_reward - costly.episode[i].total_reward) / 2.5;
    CHECK(refused == doctest::Approx(std::round(refused)));
    CHECK(refused > 0);
  }
}

TEST_CASE("Bayes' mask finds out every type in a few days, and no mask forbids change nothing") {
  for (const char* from : {"argmax", "sample", "soft"}) {
    INFO(from);
    DvrptwConfig config = quick();
    config.mask = "bayes";
    config.mask_from = from;
    Play play(config, 8);
    play.reset();
    for (int t = 0; t < 30 * 40; ++t) {
      for (std::size_t i = 0; i < 8; ++i) { REQUIRE(play.mask(i)[kNoChange]); }
      play.random_step();
      if (play.terminated[0]) { play.env->shared()->between_rollouts({}); }
    }
    CHECK(metric(*play.env, "beliefs/bayes_accuracy") == 1);
    CHECK(metric(*play.env, "beliefs/epsilon") < 0.03);
  }
}

TEST_CASE("training ignores masks as often as epsilon says, evaluation never does") {
  DvrptwConfig config = quick();
  config.mask = "bayes";
  config.epsilon = config.epsilon_floor = 1;
  const auto narrow_masks = [&](bool evaluates) {
    Play play(config, 4);
    play.reset();
    std::ranges::fill(play.actions, offer_of(10, 0));
    for (int t = 0; t < 30; ++t) { play.step(); }  // a day that tells who can be earlier
    play.env->shared()->between_rollouts({});
    std::ranges::fill(play.actions, kNoChange);
    if (evaluates) { play.env->shared()->begin_evaluation(); }
    play.reset();
    int narrow = 0;
    for (int t = 0; t < 60; ++t) {
      for (std::size_t i = 0; i < 4; ++i) {
        narrow += std::count(play.mask(i), play.mask(i) + kNumOffers, true) < kOffers;
      }
      play.step();  // changes nothing, so that no more is known
    }
    return narrow;
  };
  CHECK(narrow_masks(false) == 0);
  const int refused = narrow_masks(true);  // by those who cannot be earlier
  CHECK(refused > 4 * 60 / 4);
  CHECK(refused < 4 * 60 * 3 / 4);

  config.mask_from = "sample";  // draws types while it learns: of who can be earlier, one of two
  config.epsilon = config.epsilon_floor = 0;
  CHECK(narrow_masks(false) > refused);
  CHECK(narrow_masks(true) == refused);
}

TEST_CASE("an unknown oracle is refused when the envs are made") {
  DvrptwConfig config;
  config.oracle = "best";
  CHECK_THROWS_WITH_AS(make_dvrptw(config, 1, 1), doctest::Contains("insertion"), UsageError);
}

}  // namespace penstock::booking
