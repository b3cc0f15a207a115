#include "penstock/domains/cage2/sim/workflow.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "penstock/core/base/errors.h"
#include "support.h"
#include "support/allocations.h"

namespace penstock::cage2::workflow_test {
namespace {

using test::random_action;

constexpr std::size_t kRowSize = kObsSize + kOrderSize;
constexpr std::int64_t kRemove = 15;    // of host 0
constexpr std::int64_t kRestore = 132;  // of host 0

/// An env with its row.
struct Rig {
  explicit Rig(const std::string& order, const std::string& rule = "B",
               const std::string& red = "meander", double alpha = 10, double beta = 10)
      : env(config(order, rule, red, alpha, beta)) {}
  static WorkflowEnv::Config config(const std::string& order, const std::string& rule,
                                    const std::string& red, double alpha, double beta) {
    WorkflowEnv::Config config;
    config.order = order;
    config.compliance_rule = rule;
    config.red = red;
    config.alpha = alpha;
    config.beta = beta;
    return config;
  }
  void reset(std::uint64_t seed) { env.reset(seed, {row, {}}); }
  Outcome step(std::int64_t action) { return env.step(action, {row, {}}); }

  WorkflowEnv env;
  std::array<float, kRowSize> row{};
};

/// The type of a host by the words of its name, written without looking at the module's table.
int type_by_name(std::uint8_t host) {
  const std::string_view name = host_name(host);
  if (name.starts_with("Defender")) { return 0; }
  if (name.starts_with("Enterprise")) { return 1; }
  if (name.starts_with("Op_Server")) { return 2; }
  if (name.starts_with("Op_Host")) { return 3; }
  REQUIRE(name.starts_with("User"));
  return 4;
}

int place_of(const Order& order, int type) {
  return static_cast<int>(std::ranges::find(order, type) - order.begin());
}

/// Both rules once more, by places in the order instead of walks along it.
struct Judge {
  explicit Judge(bool is_rule_a) : rule_a(is_rule_a) {}
  /// Before the step.
  void see(const WorkflowEnv& env, std::int64_t action) {
    const bool remove = action >= 15 && action < 28;
    const bool restore = action >= 132;
    if (!remove && !restore) { return; }
    const auto host = static_cast<std::uint8_t>((action - 2) % 13);
    const int place = place_of(env.order(), type_by_name(host));
    const bool complies = rule_a ? by_history(place) : by_state(env, place);
    good += complies ? 1 : 0;
    all += 1;
    if (host != 8 && env.simulator().world().at(host).num_sessions > 0) {
      good_lost += complies ? 1 : 0;
      all_lost += 1;
    }
    places.insert(place);
  }
  [[nodiscard]] bool by_history(int place) const {
    for (int i = 0; i < place; ++i) {
      if (!places.contains(i)) { return false; }
    }
    return true;
  }
  [[nodiscard]] static bool by_state(const WorkflowEnv& env, int place) {
    int first = 99;
    for (std::uint8_t h = 0; h < kNumHosts; ++h) {
      if (h != 8 && env.simulator().world().at(h).num_sessions > 0) {
        first = std::min(first, place_of(env.order(), type_by_name(h)));
      }
    }
    return first == 99 || first == place;
  }

  bool rule_a;
  std::set<int> places;  // repaired so far
  int good = 0;
  int all = 0;
  int good_lost = 0;  // of hosts that red had
  int all_lost = 0;
};

/// A policy that repairs often.
std::int64_t repair(Random& random) {
  const auto host = static_cast<std::int64_t>(random.below(kNumHosts));
  switch (random.below(4)) {
    case 0:
      return kRemove + host;
    case 1:
      return kRestore + host;
    case 2:
      return random_action(random);
    default:
      return 1;
  }
}

const Order kUserFirst = {4, 1, 2, 3, 0};

TEST_CASE("every host has the type of its name") {
  for (std::uint8_t h = 0; h < kNumHosts; ++h) {
    CHECK(static_cast<int>(type_of(h)) == type_by_name(h));
    CHECK(types_of(bit(h)) == 1 << type_by_name(h));
  }
  CHECK(types_of(kAllHosts) == 31);
  CHECK(types_of(0) == 0);
}

TEST_CASE("an order is read as it is written, and each of the 120 has its own bits") {
  CHECK(order_of("defender,enterprise,op_server,op_host,user") == Order{0, 1, 2, 3, 4});
  CHECK(order_of("user, op_host ,op_server,enterprise,defender") == Order{4, 3, 2, 1, 0});
  Order order{0, 1, 2, 3, 4};
  std::set<std::array<float, kOrderSize>> seen;
  do {
    CHECK(order_of(order_name(order)) == order);
    std::array<float, kOrderSize> row{};
    row.fill(7);
    write_order(order, row);
    for (std::size_t i = 0; i < kOrderSize; ++i) {
      CHECK(row[i] == (order[i / 5] == static_cast<int>(i % 5) ? 1.0F : 0.0F));
    }
    seen.insert(row);
  } while (std::ranges::next_permutation(order).found);
  CHECK(seen.size() == 120);
}

TEST_CASE("an order that is none is refused with what was expected") {
  for (const char* text : {"", "user", "user,user,op_host,op_server,defender",
                           "defender,enterprise,op_server,op_host,user,user",
                           "defender,enterprise,op_server,op_host"}) {
    CHECK_THROWS_AS(order_of(text), ConfigError);
  }
  CHECK_THROWS_WITH_AS(order_of("defender,enterprize,op_server,op_host,user"),
                       doctest::Contains("did you mean 'enterprise'"), ConfigError);
  CHECK_THROWS_AS(WorkflowEnv(Rig::config("users", "B", "bline", 1, 1)), ConfigError);
  CHECK_FALSE(is_order({0, 1, 2, 3, 5}));
  CHECK_FALSE(is_order({0, 1, 2, 3, -1}));
  CHECK_FALSE(is_order({0, 1, 2, 3, 3}));
}

TEST_CASE("only Remove and Restore repair") {
  for (std::int64_t action = 0; action < 145; ++action) {
    const bool fixes = (action >= 15 && action <= 27) || (action >= 132 && action <= 144);
    CHECK((fixed_host(action) != kNone) == fixes);
    if (fixes) { CHECK(fixed_host(action) == (action - (action < 28 ? 15 : 132))); }
  }
}

TEST_CASE("rule A: what is more urgent was repaired before") {
  CHECK(complies_a(kUserFirst, UnitType::user, 0));
  CHECK_FALSE(complies_a(kUserFirst, UnitType::enterprise, 0));
  CHECK(complies_a(kUserFirst, UnitType::enterprise, 1 << 4));
  CHECK_FALSE(complies_a(kUserFirst, UnitType::defender, 1 << 4 | 1 << 1 | 1 << 3));
  CHECK(complies_a(kUserFirst, UnitType::defender, 1 << 4 | 1 << 1 | 1 << 2 | 1 << 3));

  Rig rig(order_name(kUserFirst), "A", "sleep");
  rig.reset(1);
  rig.step(kRemove + host::kEnterprise0);  // user comes first
  rig.step(kRestore + host::kUser0);       // good
  rig.step(kRemove + host::kEnterprise0);  // now good
  rig.step(kRemove + host::kDefender);     // op_server and op_host come first
  CHECK(rig.env.compliance().fixes == 4);
  CHECK(rig.env.compliance().compliant == 2);
}

TEST_CASE("rule B: what is repaired is the most urgent type that is lost") {
  CHECK(complies_b(kUserFirst, UnitType::defender, 0));  // nothing is lost
  CHECK(complies_b(kUserFirst, UnitType::user, 1 << 4 | 1 << 1));
  CHECK_FALSE(complies_b(kUserFirst, UnitType::enterprise, 1 << 4 | 1 << 1));
  CHECK(complies_b(kUserFirst, UnitType::enterprise, 1 << 1 | 1 << 0));
  CHECK_FALSE(complies_b(kUserFirst, UnitType::user, 1 << 1));
  CHECK(lost_hosts(bit(host::kUser0)) == 0);
  CHECK(lost_hosts(kAllHosts) == (kAllHosts & ~bit(8)));
}

TEST_CASE("rule B looks at the state that the action meets, not at the one it leaves") {
  Rig rig("user,op_host,op_server,enterprise,defender", "B", "bline");
  rig.reset(3);
  while (lost_hosts(rig.env.simulator().world().with_sessions()) == 0) { rig.step(1); }
  const HostSet lost = lost_hosts(rig.env.simulator().world().with_sessions());
  REQUIRE(std::popcount(lost) == 1);
  rig.step(kRestore + std::countr_zero(lost));  // the host is whole again once this is done
  CHECK(rig.env.compliance().compliant == 1);
}

TEST_CASE("against an independent judge, in random episodes, by both rules") {
  for (const char* rule : {"A", "B"}) {
    int bad = 0;
    int good = 0;
    Rig rig("random", rule);
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      rig.reset(seed);
      Judge judge(rule[0] == 'A');
      Random random(seed);
      for (int t = 0; t < 100; ++t) {
        const std::int64_t action = repair(random);
        judge.see(rig.env, action);
        rig.step(action);
        REQUIRE(rig.env.compliance().fixes == judge.all);
        REQUIRE(rig.env.compliance().compliant == judge.good);
        REQUIRE(rig.env.lost_compliance().fixes == judge.all_lost);
        REQUIRE(rig.env.lost_compliance().compliant == judge.good_lost);
      }
      good += judge.good;
      bad += judge.all - judge.good;
    }
    CHECK(good > 500);
    CHECK(bad > 500);
  }
}

TEST_CASE("the rewards of an episode add up to the game's return and the alignment") {
  struct Weights {
    double alpha;
    double beta;
  };
  for (const Weights w : {Weights{10, 10}, Weights{3.7, 0}, Weights{0.1, 250}, Weights{0, 0}}) {
    for (const char* red : {"bline", "meander", "sleep"}) {
      Rig rig("random", "B", red, w.alpha, w.beta);
      for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Simulator game = test::make(red);
        test::reset(game, seed);
        rig.reset(seed);
        Random random(seed);
        double sum = 0;
        double last = 0;
        int tenths = 0;
        for (int t = 0; t < 100; ++t) {
          // Some episodes have no fix at all.
          const std::int64_t action = seed % 10 == 0 ? 1 : repair(random);
          tenths += game.advance(action).cost_tenths;
          last = rig.step(action).reward;
          sum += last;
        }
        const double c = rig.env.compliance().fixes == 0
                             ? 0.5
                             : 1.0 * rig.env.compliance().compliant / rig.env.compliance().fixes;
        const double worth = -tenths / 10.0 + w.alpha * c - w.beta * (1 - c);
        CHECK(rig.env.game_return() == -tenths / 10.0);
        // One float's rounding, not a hundred: that of the last reward.
        CHECK(std::abs(sum - worth) <= std::abs(last) * 0x1.0p-24 + 1e-12);
      }
    }
  }
}

TEST_CASE("a step is paid what it changes") {
  Rig rig("op_server,op_host,user,enterprise,defender", "B", "sleep");
  rig.reset(1);
  CHECK(rig.step(1).reward == 0);
  CHECK(rig.step(kRemove).reward == 10);   // nothing is lost: from 0.5 to 1
  CHECK(rig.step(kRemove).reward == 0);    // still 1
  CHECK(rig.step(kRestore).reward == -1);  // the game's price
  CHECK(rig.env.compliance().ratio() == 1);
}

TEST_CASE("an episode without a fix counts one half") {
  Rig rig("random");
  rig.reset(5);
  for (int t = 0; t < 100; ++t) { rig.step(2); }
  std::array<double, 4> stats{};
  rig.env.episode_stats(stats);
  CHECK(stats[0] == rig.env.game_return());
  CHECK(stats[1] == 0.5);
  CHECK(stats[2] == 0);
  CHECK(stats[3] == 0.5);
}

TEST_CASE("fixes of clean hosts pad the compliance, but not that of lost hosts") {
  Rig rig("user,op_host,op_server,enterprise,defender", "B", "bline");
  rig.reset(3);
  for (int t = 0; t < 3; ++t) { rig.step(kRemove + host::kUser2); }  // nothing is lost yet
  CHECK(rig.env.compliance().compliant == 3);
  CHECK(rig.env.lost_compliance().fixes == 0);
  const auto lost = [&] { return lost_hosts(rig.env.simulator().world().with_sessions()); };
  while ((lost() & kEnterpriseServers) == 0 || (types_of(lost()) & 1 << 4) == 0) { rig.step(1); }

  const int before = rig.env.compliance().compliant;
  std::uint8_t clean = host::kUser1;
  while (has(lost(), clean)) { ++clean; }
  rig.step(kRemove + clean);  // of the right type, though there is nothing to repair
  CHECK(rig.env.compliance().compliant == before + 1);
  CHECK(rig.env.lost_compliance().fixes == 0);

  rig.step(kRestore + std::countr_zero<HostSet>(lost() & kEnterpriseServers));  // users come first
  CHECK(rig.env.lost_compliance().fixes == 1);
  CHECK(rig.env.lost_compliance().compliant == 0);
  std::array<double, 4> stats{};
  rig.env.episode_stats(stats);
  CHECK(stats[1] == 0.8);
  CHECK(stats[2] == 5);
  CHECK(stats[3] == 0);
}

TEST_CASE("counters begin anew with every episode, and an episode ends by itself") {
  Rig rig("random");
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    rig.reset(seed);
    CHECK(rig.env.compliance().fixes == 0);
    CHECK(rig.env.game_return() == 0);
    for (int t = 0; t < 99; ++t) { REQUIRE_FALSE(rig.step(kRemove + 3).terminated); }
    CHECK(rig.step(kRemove + 3).terminated);
    CHECK(rig.env.compliance().fixes == 100);
  }
}

TEST_CASE("the row is the game's observation and the order, and the order changes no game") {
  Rig rig("random");
  Rig fixed("user,op_host,op_server,enterprise,defender");
  std::set<Order> seen;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    rig.reset(seed);
    seen.insert(rig.env.order());
    if (seed >= 20) { continue; }
    fixed.reset(seed);
    Random random(seed);
    for (int t = 0; t < 50; ++t) {
      const std::int64_t action = random_action(random);
      rig.step(action);
      fixed.step(action);
      REQUIRE(std::equal(rig.row.begin(), rig.row.begin() + kObsSize, fixed.row.begin()));
      for (std::size_t i = 0; i < kOrderSize; ++i) {
        const bool here = rig.env.order()[i / 5] == static_cast<int>(i % 5);
        REQUIRE(rig.row[kObsSize + i] == (here ? 1 : 0));
      }
    }
  }
  CHECK(seen.size() == 120);
}

TEST_CASE("parts, statistics and sizes; without the order it is the plain observation") {
  WorkflowEnv::Config config;
  const EnvSpec spec = WorkflowEnv(config).spec();
  CHECK(spec.obs.size() == 77);
  CHECK(spec.obs.part("obs").size == 52);
  CHECK(spec.obs.part("order").offset == 52);
  CHECK(spec.action.num_actions() == 145);
  CHECK(spec.stats ==
        std::vector<std::string>{"game_return", "compliance", "fixes", "lost_compliance"});
  config.show_order = false;
  CHECK(WorkflowEnv(config).spec().obs.size() == 52);
  static_assert(sizeof(WorkflowEnv) < 1024);
}

TEST_CASE("neither reset nor step of a workflow allocates") {
  Rig rig("random");
  Random random(3);
  penstock::test::largest_allocation();
  for (std::uint64_t episode = 0; episode < 20; ++episode) {
    rig.reset(episode);
    for (int t = 0; t < 100; ++t) { rig.step(random_action(random)); }
  }
  CHECK(penstock::test::largest_allocation() == 0);
}

TEST_CASE("a state that no episode can have is refused") {
  Rig rig("random");
  rig.reset(1);
  Simulator game = rig.env.simulator();
  const std::size_t before_order = test::bytes_of(game).size();
  std::vector<std::byte> bytes;
  StateWriter writer(bytes);
  writer(rig.env);
  bytes[before_order] = std::byte{9};  // the first type of the order
  StateReader reader(bytes);
  CHECK_THROWS_AS(reader(rig.env), DataError);
}

}  // namespace
}  // namespace penstock::cage2::workflow_test
