#include "penstock/domains/cage2/sim/mask.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "masked.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/cage2/sim/defender.h"
#include "penstock/domains/cage2/sim/workflow.h"
#include "support.h"

namespace penstock::cage2::mask_test {
namespace {

using namespace host;

constexpr const char* kUserFirst = "user,enterprise,op_server,op_host,defender";
constexpr const char* kServerFirst = "op_server,op_host,enterprise,user,defender";

ObsBits marked(std::uint8_t host, Mark mark) { return ObsBits(mark) << (4 * host + 2); }
ObsBits scanned(std::uint8_t host) { return ObsBits(Activity::scan) << (4 * host); }

using Masked = test::Masked<WorkflowEnv>;

WorkflowEnv::Config config_with(const std::string& mask, const std::string& order, bool macro,
                                const std::string& red = "meander") {
  WorkflowEnv::Config config;
  config.mask = mask;
  config.order = order;
  config.macro = macro;
  config.memory = macro;
  config.red = red;
  return config;
}

TEST_CASE("a decoy is futile where it cannot stand or stands already") {
  Memory memory;
  const std::int64_t femitter = decoy_index(Decoy::femitter, kEnterprise1);
  CHECK(is_futile(decoy_index(Decoy::haraka, kEnterprise1), memory));  // it needs Linux
  CHECK_FALSE(is_futile(femitter, memory));
  memory.note(femitter, Flag::no, 0);
  CHECK_FALSE(is_futile(femitter, memory));
  memory.note(femitter, Flag::yes, 0);
  CHECK(is_futile(femitter, memory));
  CHECK_FALSE(is_futile(decoy_index(Decoy::femitter, kEnterprise2), memory));
  memory.note(action_index(BlueKind::restore, kEnterprise1), Flag::yes, 0);
  CHECK_FALSE(is_futile(femitter, memory));
  for (const std::int64_t action : {0, 1, 2, 15, 144}) { CHECK_FALSE(is_futile(action, memory)); }
}

TEST_CASE("flagged is what the table marks, but for the Defender and User0") {
  const Memory memory;
  CHECK(flagged_hosts(0, memory) == 0);
  for (const Mark mark : {Mark::unknown, Mark::user, Mark::privileged}) {
    CHECK(flagged_hosts(marked(kUser3, mark), memory) == bit(kUser3));
    CHECK(flagged_hosts(marked(kUser0, mark) | marked(kDefender, mark), memory) == 0);
  }
  CHECK(flagged_hosts(scanned(kUser3), memory) == 0);  // activity alone is no mark
}

TEST_CASE("a host that was active twice is suspect until Blue has looked or repaired") {
  for (const BlueKind answer : {BlueKind::analyse, BlueKind::remove, BlueKind::restore}) {
    Memory memory;
    memory.note(0, Flag::unknown, scanned(kEnterprise0));
    CHECK(flagged_hosts(0, memory) == 0);
    memory.note(0, Flag::unknown, 0);
    memory.note(0, Flag::unknown, scanned(kEnterprise0) | scanned(kUser0));
    CHECK(flagged_hosts(0, memory) == bit(kEnterprise0));
    memory.note(action_index(answer, kEnterprise1), Flag::yes, 0);  // elsewhere
    CHECK(flagged_hosts(0, memory) == bit(kEnterprise0));
    memory.note(action_index(answer, kEnterprise0), Flag::yes, 0);
    CHECK(flagged_hosts(0, memory) == 0);
    memory.note(0, Flag::unknown, scanned(kEnterprise0));
    CHECK(flagged_hosts(0, memory) == bit(kEnterprise0));
  }
}

TEST_CASE("the most urgent of some hosts are all of one type") {
  const HostSet some = bit(kUser1) | bit(kUser4) | bit(kEnterprise2) | bit(kOpServer0);
  CHECK(most_urgent(order_of(kUserFirst), some) == (bit(kUser1) | bit(kUser4)));
  CHECK(most_urgent(order_of(kServerFirst), some) == bit(kOpServer0));
  CHECK(most_urgent(order_of(kServerFirst), some & ~bit(kOpServer0)) == bit(kEnterprise2));
  CHECK(most_urgent(order_of(kUserFirst), 0) == 0);
}

TEST_CASE("as it comes the env masks nothing, and the keys change what they say") {
  const EnvSpec plain = WorkflowEnv(WorkflowEnv::Config{}).spec();
  CHECK(plain.obs.size() == kObsSize + kOrderSize);
  CHECK(plain.action.num_actions() == kNumActions);
  CHECK_FALSE(plain.action.masked());
  const EnvSpec all = WorkflowEnv(config_with("order", kUserFirst, true)).spec();
  CHECK(all.obs.part("memory").size == Memory::kSize);
  CHECK(all.obs.size() == kObsSize + kOrderSize + Memory::kSize);
  CHECK(all.action.num_actions() == kNumMacros);
  CHECK(all.action.masked());
  CHECK(WorkflowEnv(config_with("legal", kUserFirst, false)).spec().action.masked());
}

TEST_CASE("an order's mask is by rule B") {
  WorkflowEnv::Config config = config_with("order", kUserFirst, false);
  config.compliance_rule = "A";
  CHECK_THROWS_AS(WorkflowEnv{config}, ConfigError);
}

TEST_CASE("at first no fix is legal by an order; the mask of legal actions leaves all of them") {
  Masked by_order(config_with("order", kUserFirst, false));
  Masked legal(config_with("legal", kUserFirst, false));
  by_order.reset(1);
  legal.reset(1);
  for (std::int64_t action = 0; action < static_cast<std::int64_t>(kNumActions); ++action) {
    const auto i = static_cast<std::size_t>(action);
    const bool fix = (action >= 15 && action < 28) || action >= 132;
    if (fix) {
      CHECK_FALSE(by_order.mask()[i]);
      CHECK(legal.mask()[i]);
    } else {
      CHECK(by_order.mask()[i] == legal.mask()[i]);
    }
  }
  CHECK(legal.mask()[0]);
  CHECK_FALSE(legal.mask()[static_cast<std::size_t>(decoy_index(Decoy::haraka, kEnterprise1))]);
}

/// What the row of the 52 bits and the actions alone say, told once more without Memory.
struct Onlooker {
  void see(std::int64_t action, const std::vector<float>& row) {
    ++now;
    const BlueMove move = blue_move(action);
    if (move.host != kNone && !move.is_decoy()) { answered[move.host] = now; }
    for (std::size_t h = 0; h < kNumHosts; ++h) {
      if (row[4 * h] == 0) { continue; }
      active[h] = now;
      scans[h] += row[4 * h + 1] == 0 ? 1 : 0;
    }
  }
  [[nodiscard]] std::set<int> fixable(const Order& order, const std::vector<float>& row) const {
    for (const int type : order) {
      std::set<int> hosts;
      for (int h = 1; h < 13; ++h) {
        const bool shown = row[4 * h + 2] != 0 || row[4 * h + 3] != 0;
        const bool suspect = scans[h] >= 2 && active[h] > answered[h];
        const bool here = static_cast<int>(type_of(static_cast<std::uint8_t>(h))) == type;
        if (h != 8 && here && (shown || suspect)) { hosts.insert(h); }
      }
      if (!hosts.empty()) { return hosts; }
    }
    return {};
  }
  int now = 0;
  std::array<int, 13> active{};
  std::array<int, 13> answered{};
  std::array<int, 13> scans{};
};

TEST_CASE("in random episodes the mask is what an onlooker says who sees the rows alone") {
  for (const char* red : {"bline", "meander"}) {
    Masked masked(config_with("order", "random", false, red));
    std::size_t num_open = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      masked.reset(seed);
      Onlooker onlooker;
      Random random(seed);
      for (int t = 0; t < 100; ++t) {
        const std::int64_t action = test::random_action(random);
        masked.step(action);
        onlooker.see(action, masked.row);
        const std::set<int> fixable = onlooker.fixable(masked.env.order(), masked.row);
        num_open += fixable.size();
        for (int h = 0; h < 13; ++h) {
          REQUIRE(masked.mask()[static_cast<std::size_t>(15 + h)] == fixable.contains(h));
          REQUIRE(masked.mask()[static_cast<std::size_t>(132 + h)] == fixable.contains(h));
        }
      }
    }
    CHECK(num_open > 1000);
  }
}

/// Blue's whole history: its actions' success and what it saw.
using History = std::vector<std::uint64_t>;

/// All that games of one history had.
struct Alike {
  std::set<std::vector<bool>> masks;
  std::set<HostSet> held;  // by red, which Blue does not see
};

/// A game against B_line, told into `games` step by step. First two decoys on User1: an exploit
/// that they catch looks to Blue as one that goes unnoticed.
void tell_game(std::uint64_t seed, bool macro, std::map<History, Alike>& games) {
  constexpr int kSteps = 12;
  constexpr std::int64_t kNextDecoy = 1 + 3 * 11 + 7;  // of User1
  Masked masked(config_with("order", kServerFirst, macro, "bline"));
  Simulator twin = test::make("bline");  // the same game, to look behind the scenes
  masked.reset(seed);
  test::reset(twin, seed);
  History history;
  for (int t = 0; t < kSteps; ++t) {
    const Decoy decoy = t == 0 ? Decoy::tomcat : Decoy::apache;
    const std::int64_t action = t < 2 ? decoy_index(decoy, kUser1) : 0;
    masked.step(t < 2 && macro ? kNextDecoy : action);
    const Simulator::Trace trace = twin.advance(action);
    REQUIRE(twin.obs() == masked.env.simulator().obs());
    history.push_back(twin.obs());
    history.push_back(static_cast<std::uint64_t>(trace.blue_flag));
    Alike& alike = games[history];
    alike.masks.insert(masked.copied());
    alike.held.insert(twin.world().with_sessions());
  }
}

TEST_CASE("two games that look the same to Blue have the same mask, whatever red has done") {
  for (const bool macro : {false, true}) {
    std::map<History, Alike> games;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) { tell_game(seed, macro, games); }
    int num_ambiguous = 0;
    std::set<std::vector<bool>> all;
    for (const auto& [history, alike] : games) {
      CHECK(alike.masks.size() == 1);
      num_ambiguous += alike.held.size() > 1 ? 1 : 0;
      all.insert(*alike.masks.begin());
    }
    CHECK(num_ambiguous > 0);  // else this shows nothing
    CHECK(all.size() > 5);
  }
}

TEST_CASE("a macro action is the action that it means") {
  Masked macro(config_with("none", kUserFirst, true));
  Masked plain(config_with("none", kUserFirst, false));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    macro.reset(seed);
    plain.reset(seed);
    Random random(seed);
    for (int t = 0; t < 100; ++t) {
      const std::int64_t choice = random.below(kNumMacros);
      const std::int64_t action = macro_action(choice, macro.env.view().memory());
      CHECK(macro.step(choice).reward == plain.step(action).reward);
      REQUIRE(std::equal(plain.row.begin(), plain.row.end(), macro.row.begin()));
    }
    CHECK(macro.env.compliance().fixes == plain.env.compliance().fixes);
    std::array<float, Memory::kSize> expected{};
    macro.env.view().memory().write(expected);
    CHECK(std::equal(expected.begin(), expected.end(), macro.row.end() - Memory::kSize));
  }
}

TEST_CASE("whoever keeps to an order's mask complies nearly always") {
  for (const char* order : {kUserFirst, kServerFirst}) {
    Masked masked(config_with("order", order, true));
    Compliance total;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      masked.reset(seed);
      for (int t = 0; t < 100; ++t) {
        std::int64_t choice = 0;  // restores what it may, else sleeps
        for (std::size_t i = 1 + 2 * kNumDefended; i < 1 + 3 * kNumDefended; ++i) {
          if (masked.mask()[i]) { choice = static_cast<std::int64_t>(i); }
        }
        masked.step(choice);
      }
      total.fixes += masked.env.compliance().fixes;
      total.compliant += masked.env.compliance().compliant;
    }
    CHECK(total.fixes > 500);
    CHECK(total.ratio() > 0.9);
  }
}

}  // namespace
}  // namespace penstock::cage2::mask_test
