#include "penstock/domains/cage2/sim/belief.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/moments.h"
#include "penstock/domains/cage2/sim/scripts.h"
#include "support.h"
#include "support/sanitized.h"

namespace penstock::cage2::belief_test {
namespace {

/// Every number of a belief, host by host, then of all.
using Row = std::array<float, BeliefFilter::kSize>;

Row row_of(const BeliefFilter& filter) {
  Row row{};
  filter.write(row);
  return row;
}

/// What the belief's row would be for one who sees everything. What red does next is not known
/// before it is drawn: those numbers stay 0.
Row truth_of(const Simulator& game) {
  Row row{};
  for (std::uint8_t h = 0; h < kNumHosts; ++h) {
    const std::size_t first = h * BeliefFilter::kFeaturesOfHost;
    row[first] = has(game.world().with_sessions(), h) ? 1 : 0;
    row[first + 1] = has(game.world().with_privileged(), h) ? 1 : 0;
    row[first + 2] = game.world().at(h).known_ports != 0 ? 1 : 0;
  }
  const std::size_t last = kNumHosts * BeliefFilter::kFeaturesOfHost;
  row[last + static_cast<std::size_t>(game.red().kind())] = 1;
  row[last + 3] = game.world().service_up() ? 0 : 1;
  return row;
}

constexpr bool tells_next(std::size_t place) {
  return place < kNumHosts * BeliefFilter::kFeaturesOfHost &&
         place % BeliefFilter::kFeaturesOfHost == 3;
}

/// The host that the step was about, or none.
std::uint8_t target_of(const RedMove& move) {
  const bool on_host =
      move.action != RedAction::sleep && move.action != RedAction::discover_systems;
  return on_host ? move.target : kNone;
}

Simulator::Config mixed() {
  Simulator::Config config;
  config.red = "mix";
  config.mix = {2, 2, 1};
  return config;
}

/// One way that games with the same actions looked, and what was true in them then.
struct Way {
  double count = 0;
  std::array<double, BeliefFilter::kSize> sums{};
};
using Ways = std::map<std::vector<ObsBits>, Way>;

/// Plays the simulator over and over, and keeps what was true by what was seen. The move of one
/// more step is counted where the belief tells the next one.
Ways played(const Simulator::Config& config, const std::vector<std::int64_t>& actions, int games) {
  Ways ways;
  Simulator game(config);
  std::vector<ObsBits> seen(actions.size());
  for (int seed = 0; seed < games; ++seed) {
    test::reset(game, static_cast<std::uint64_t>(seed));
    for (std::size_t t = 0; t < actions.size(); ++t) {
      game.advance(actions[t]);
      seen[t] = game.obs();
    }
    Way& way = ways[seen];
    const Row truth = truth_of(game);
    ++way.count;
    for (std::size_t i = 0; i < truth.size(); ++i) { way.sums[i] += truth[i]; }
    const std::uint8_t target = target_of(game.advance(0).red);
    if (target != kNone) { ++way.sums[target * BeliefFilter::kFeaturesOfHost + 3]; }
  }
  return ways;
}

/// How the filter's own actions went, which does not depend on the seed here.
std::vector<Flag> flags_of(const Simulator::Config& config,
                           const std::vector<std::int64_t>& actions) {
  Simulator game(config);
  test::reset(game, 0);
  std::vector<Flag> flags;
  for (const std::int64_t action : actions) { flags.push_back(game.advance(action).blue_flag); }
  return flags;
}

/// The largest distance between belief and frequency, in standard errors of the frequency.
double worst_deviation(const BeliefFilter& filter, const Way& way) {
  const Row row = row_of(filter);
  double worst = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double p = row[i];
    const double frequency = way.sums[i] / way.count;
    const double error = std::sqrt((p * (1 - p) + 1 / way.count) / way.count);
    worst = std::max(worst, std::abs(p - frequency) / error);
  }
  return worst;
}

void check_against_games(const Simulator::Config& config, const std::vector<std::int64_t>& actions,
                         int at_least = 10) {
  constexpr int kGames = 60'000;
  constexpr double kOften = 200;
  constexpr double kFarOut = 5.2;  // standard errors; some 10,000 numbers are compared
  const std::vector<Flag> flags = flags_of(config, actions);
  BeliefFilter filter(config, 4096);
  int compared = 0;
  for (const auto& [seen, way] : played(config, actions, kGames)) {
    filter.reset();
    for (std::size_t t = 0; t < actions.size(); ++t) { filter.note(actions[t], flags[t], seen[t]); }
    CHECK(filter.exact());
    CHECK_FALSE(filter.lost());
    if (way.count < kOften) { continue; }
    ++compared;
    CHECK(worst_deviation(filter, way) < kFarOut);
  }
  CHECK(compared >= at_least);
}

TEST_CASE("the belief is how often it is so in all games that look the same" *
          doctest::skip(kSanitized)) {
  const std::int64_t sleep = 0;
  const auto analyse = [](std::uint8_t h) { return action_index(BlueKind::analyse, h); };
  const auto remove = [](std::uint8_t h) { return action_index(BlueKind::remove, h); };
  const auto restore = [](std::uint8_t h) { return action_index(BlueKind::restore, h); };
  const std::vector<std::int64_t> busy = {decoy_index(Decoy::apache, host::kUser1),
                                          decoy_index(Decoy::haraka, host::kEnterprise0),
                                          remove(host::kUser2),
                                          sleep,
                                          analyse(host::kUser3),
                                          restore(host::kUser4),
                                          remove(host::kUser1),
                                          sleep};
  SUBCASE("a mixture, Blue asleep") { check_against_games(mixed(), {0, 0, 0, 0, 0, 0, 0}); }
  SUBCASE("a mixture, Blue busy") { check_against_games(mixed(), busy); }
  SUBCASE("before it is seen how an exploit of User1 went, which has a decoy") {
    check_against_games(mixed(), {busy.begin(), busy.begin() + 3}, 5);
  }
  SUBCASE("the leader board's day") {
    Simulator::Config config = mixed();
    config.rules = "leaderboard";
    config.wrapper = "v2";
    check_against_games(config, busy);
  }
  SUBCASE("with Green, debugged") {
    Simulator::Config config = mixed();
    config.green = true;
    config.wrapper = "dbg";
    config.fix_smb = config.fix_mysql = config.fix_vsftpd = config.reward_user_sessions = true;
    check_against_games(config, {0, decoy_index(Decoy::apache, host::kUser1), 0, 0}, 5);
  }
}

/// What a filter believed over whole games, beside what was true.
struct Calibration {
  static constexpr std::size_t kBins = 10;
  std::array<Moments, kBins> excess;  // belief minus truth, summed up over a game; of a bin
  double squares = 0;                 // of the distances
  double table_squares = 0;           // the same of Blue's table, of sessions and privileged ones
  int num_revivals = 0;
  int num_inexact = 0;  // games
};

/// Games that a filter follows.
class Followed {
 public:
  Followed(const Simulator::Config& config, std::size_t size, Script script)
      : game_(config), filter_(config, size), blue_(script) {}

  void play(std::uint64_t seed, Calibration& into) {
    test::reset(game_, seed);
    blue_.reset(seed);
    filter_.reset();
    std::array<double, Calibration::kBins> excess{};
    std::array<bool, Calibration::kBins> any{};
    for (int t = 0; t < 100; ++t) {
      const std::int64_t action = blue_.act(game_.obs());
      const Flag flag = game_.advance(action).blue_flag;
      filter_.note(action, flag, game_.obs());
      compare(into, excess, any);
    }
    for (std::size_t bin = 0; bin < excess.size(); ++bin) {
      if (any[bin]) { into.excess[bin].add(excess[bin]); }
    }
    into.num_revivals += filter_.num_revivals();
    into.num_inexact += filter_.exact() ? 0 : 1;
    CHECK_FALSE(filter_.lost());
  }

 private:
  void compare(Calibration& into, std::array<double, Calibration::kBins>& excess,
               std::array<bool, Calibration::kBins>& any) const {
    const Row row = row_of(filter_);
    const Row truth = truth_of(game_);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (tells_next(i)) { continue; }
      const double far = row[i] - truth[i];
      const auto bin = static_cast<std::size_t>(std::min(row[i], 0.999F) * Calibration::kBins);
      excess[bin] += far;
      any[bin] = true;
      into.squares += far * far;
    }
    for (std::uint8_t h = 0; h < kNumHosts; ++h) {
      const Mark told = mark(game_.obs(), h);
      const std::size_t first = h * BeliefFilter::kFeaturesOfHost;
      into.table_squares += (told != Mark::no) != (truth[first] != 0) ? 1 : 0;
      into.table_squares += (told == Mark::privileged) != (truth[first + 1] != 0) ? 1 : 0;
    }
  }

  Simulator game_;
  BeliefFilter filter_;
  ScriptedBlue blue_;
};

Calibration calibrate(std::size_t size, int games, Script script) {
  Calibration result;
  Followed followed(mixed(), size, script);
  for (int g = 0; g < games; ++g) { followed.play(static_cast<std::uint64_t>(1000 + g), result); }
  return result;
}

TEST_CASE("beliefs are calibrated, and know far more than the table") {
  constexpr double kManyGames = 25;
  constexpr double kFarOut = 4;  // standard errors over games
  for (const Script script : {Script::sleep, Script::random, Script::react}) {
    const Calibration result = calibrate(64, 150, script);
    for (const Moments& bin : result.excess) {
      if (bin.count < kManyGames) { continue; }
      const double error = std::sqrt(bin.m2 / (bin.count - 1) / bin.count);
      CHECK(std::abs(bin.mean) <= kFarOut * error + 0.02);
    }
    CHECK(result.squares < 0.1 * result.table_squares);
    CHECK(result.num_revivals == 0);
    CHECK(result.num_inexact < 75);
  }
}

TEST_CASE("a filter with too few hypotheses goes through the episode again, and is worse") {
  const Calibration few = calibrate(2, 60, Script::react);
  const Calibration enough = calibrate(64, 60, Script::react);
  CHECK(few.num_revivals > 0);
  CHECK(few.squares > 1.1 * enough.squares);
}

TEST_CASE("a filter of any size ends its step, and is a function of what Blue did and saw") {
  for (const std::size_t size : {1, 3, 8, 64}) {
    Simulator game(mixed());
    BeliefFilter filter(mixed(), size);
    BeliefFilter other(mixed(), size);
    Random random(3);
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      test::reset(game, seed);
      filter.reset();
      other.reset();
      for (int t = 0; t < 100; ++t) {
        const std::int64_t action = test::random_action(random);
        const Flag flag = game.advance(action).blue_flag;
        filter.note(action, flag, game.obs());
        other.note(action, flag, game.obs());
      }
      REQUIRE(row_of(filter) == row_of(other));
      for (const float p : row_of(filter)) { REQUIRE((p >= 0 && p <= 1.0001F)); }
    }
  }
}

TEST_CASE("a filter comes back from its bytes as it was") {
  Simulator game(mixed());
  BeliefFilter filter(mixed(), 8);
  Random random(5);
  test::reset(game, 5);
  for (int t = 0; t < 40; ++t) {
    const std::int64_t action = test::random_action(random);
    const Flag flag = game.advance(action).blue_flag;
    filter.note(action, flag, game.obs());
  }
  std::vector<std::byte> bytes;
  StateWriter writer(bytes);
  writer(filter);
  BeliefFilter loaded(mixed(), 8);
  StateReader reader(bytes);
  reader(loaded);
  CHECK(reader.empty());
  CHECK(row_of(loaded) == row_of(filter));
  CHECK(loaded.num_hypotheses() == filter.num_hypotheses());
}

TEST_CASE("before the first step the belief is the weights of the mixture, whoever plays") {
  Simulator::Config config = mixed();
  config.red = "meander";
  const BeliefFilter filter(config, 8);
  CHECK(filter.belief().kind[0] == doctest::Approx(0.4));
  CHECK(filter.belief().kind[2] == doctest::Approx(0.2));
  CHECK(filter.belief().session[host::kUser0] == doctest::Approx(1));
  CHECK(filter.belief().session[host::kUser1] == 0);

  config.mix = {1, 0, 1};
  CHECK_THROWS_WITH_AS(BeliefFilter(config, 8), doctest::Contains("meander has no weight"),
                       ConfigError);
  config.mix = {1, 1};
  CHECK_THROWS_AS(BeliefFilter(config, 8), ConfigError);
}

TEST_CASE("what no game shows leaves the filter lost until the next episode") {
  BeliefFilter filter(mixed(), 8);
  filter.note(0, Flag::unknown, ObsBits{3} << 4 * host::kOpServer0);  // an alarm in the first step
  CHECK(filter.lost());
  filter.note(0, Flag::unknown, 0);
  CHECK(filter.lost());
  CHECK(filter.belief().session[host::kUser0] == doctest::Approx(1));
  filter.reset();
  filter.note(0, Flag::unknown, 0);
  CHECK_FALSE(filter.lost());
}

}  // namespace
}  // namespace penstock::cage2::belief_test
