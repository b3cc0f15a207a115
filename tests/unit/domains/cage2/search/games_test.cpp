#include "penstock/domains/cage2/search/games.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "penstock/domains/cage2/search/order.h"

namespace penstock::cage2::games_test {
namespace {

constexpr TypeSet kEnterprise = 1U << 1;
constexpr TypeSet kOpServer = 1U << 2;
constexpr TypeSet kOpHost = 1U << 3;
constexpr TypeSet kUser = 1U << 4;

SearchOptions against(const std::string& red, char rule = 'B') {
  SearchOptions options;
  options.job.red = red;
  options.job.compliance_rule = rule;
  return options;
}

/// How many different orders stand for the 120, and for how many each.
std::map<Order, int> classes(TypeSet at_risk) {
  std::map<Order, int> sizes;
  for (const Order& order : search::all_orders()) { ++sizes[canonical(order, at_risk)]; }
  return sizes;
}

// B_line's script aims at a user host, Enterprise0 or 1, Enterprise2 and Op_Server0; Meander at all
// that it sees, but nobody can log in to the Defender.
TEST_CASE("types at risk are those that the attackers take") {
  for (const char* rules : {"head", "leaderboard"}) {
    SearchOptions options = against("bline");
    options.job.rules = rules;
    CHECK(types_at_risk(options) == (kEnterprise | kOpServer | kUser));
    options.job.red = "meander";
    CHECK(types_at_risk(options) == (kEnterprise | kOpServer | kOpHost | kUser));
    options.job.red = "mix";
    CHECK(types_at_risk(options) == (kEnterprise | kOpServer | kOpHost | kUser));
  }
  CHECK(types_at_risk(against("sleep")) == 0);
  CHECK(types_at_risk(against("bline", 'A')) == 31);  // a fix of any type counts by this rule
}

TEST_CASE("types at risk follow the settings of the trainings") {
  SearchOptions options = against("mix");
  options.settings = {"env.mix=[1, 0, 0]", "ppo.gamma=0.5"};
  CHECK(types_at_risk(options) == types_at_risk(against("bline")));
  options.settings = {"env.max_steps=5"};
  CHECK(types_at_risk(options) == kUser);  // red has not come further by then
  options.settings = {"env.rules=leaderboard", "env.green=true"};
  CHECK(game_of(options).rules == "leaderboard");
  CHECK(game_of(options).green);
}

TEST_CASE("the 120 orders are 6 games against B_line and 24 against Meander") {
  for (const auto& [red, games] : {std::pair{"bline", 6}, {"meander", 24}, {"sleep", 1}}) {
    const TypeSet at_risk = types_at_risk(against(red));
    const std::map<Order, int> sizes = classes(at_risk);
    CHECK(static_cast<int>(sizes.size()) == games);
    CHECK(num_games(at_risk) == games);
    for (const auto& [order, size] : sizes) {
      CHECK(size == 120 / games);
      CHECK(is_order(order));
      CHECK(canonical(order, at_risk) == order);
    }
  }
  CHECK(num_games(31) == 120);
}

TEST_CASE("orders of one game judge every fix alike, orders of two games do not") {
  const TypeSet at_risk = kEnterprise | kOpServer | kUser;
  const auto judged = [&](const Order& order) {
    std::vector<bool> verdicts;
    for (TypeSet lost = 0; lost < 32; ++lost) {
      if ((lost & ~at_risk) != 0) { continue; }
      for (int type = 0; type < 5; ++type) {
        verdicts.push_back(complies_b(order, static_cast<UnitType>(type), lost));
      }
    }
    return verdicts;
  };
  std::set<std::vector<bool>> kinds;
  for (const Order& order : search::all_orders()) {
    CHECK(judged(order) == judged(canonical(order, at_risk)));
    kinds.insert(judged(order));
  }
  CHECK(kinds.size() == 6);
}

TEST_CASE("trials of one game are told together, the best game first") {
  const auto tried = [](const Order& order, double value, bool compliant) {
    Measured made;
    made.result.order = order;
    made.result.mean_return = value;
    made.result.compliant = compliant;
    return made;
  };
  const TypeSet at_risk = kEnterprise | kOpServer | kUser;
  const std::vector<GameRow> rows =
      games_of({tried({4, 1, 2, 0, 3}, -60, true), tried({1, 2, 4, 3, 0}, -40, false),
                tried({0, 4, 3, 1, 2}, -80, true), tried({4, 3, 1, 0, 2}, -70, false)},
               at_risk);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].order == Order{1, 2, 4, 0, 3});
  CHECK(rows[0].num_orders == 1);
  CHECK(rows[0].num_compliant == 0);
  CHECK(rows[1].order == Order{4, 1, 2, 0, 3});
  CHECK(rows[1].num_orders == 3);
  CHECK(rows[1].num_compliant == 2);
  CHECK(rows[1].mean == doctest::Approx(-70));
  CHECK(rows[1].least == -80);
  CHECK(rows[1].most == -60);
}

}  // namespace
}  // namespace penstock::cage2::games_test
