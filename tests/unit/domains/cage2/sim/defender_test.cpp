#include "penstock/domains/cage2/sim/defender.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "penstock/core/base/errors.h"
#include "support.h"
#include "support/allocations.h"

namespace penstock::cage2::defender_test {
namespace {

constexpr std::size_t kRowSize = kObsSize + Memory::kSize;
using RowMemory = std::array<float, kRowSize>;

enum MacroOf : std::int64_t { kAnalyse, kRemove, kRestore, kDecoy };

/// The macro action of a kind on a host.
std::int64_t macro(MacroOf kind, std::uint8_t host) {
  const auto place = std::ranges::find(kDefended, host) - kDefended.begin();
  return 1 + kind * static_cast<std::int64_t>(kNumDefended) + place;
}

DefenderEnv::Config against(const std::string& red) {
  DefenderEnv::Config config;
  config.red = red;
  return config;
}

ObsBits shown(std::uint8_t host, Activity activity) {
  return ObsBits{static_cast<std::uint8_t>(activity)} << 4 * host;
}

std::int64_t random_macro(Random& random) { return random.below(kNumMacros); }

TEST_CASE("45 macro actions are 44 different actions and sleep, none on User0 or the Defender") {
  const Memory memory;
  std::set<std::int64_t> actions;
  for (std::int64_t m = 0; m < 45; ++m) { actions.insert(macro_action(m, memory)); }
  CHECK(kNumMacros == 45);
  CHECK(actions.size() == 45);
  CHECK(actions.contains(0));
  for (const std::int64_t action : actions) {
    const std::uint8_t host = blue_move(action).host;
    CHECK(host != host::kUser0);
    CHECK(host != host::kDefender);
  }
  CHECK(macro_action(macro(kRestore, host::kOpServer0), memory) ==
        action_index(BlueKind::restore, host::kOpServer0));
  CHECK(macro_action(macro(kAnalyse, host::kUser1), memory) ==
        action_index(BlueKind::analyse, host::kUser1));
  CHECK(macro_action(-1, memory) == 0);
  CHECK(macro_action(45, memory) == 0);
}

TEST_CASE("every decoy of the preference can be placed, one after another, until none is left") {
  for (const std::uint8_t host : kDefended) {
    DefenderEnv env(against("sleep"));
    RowMemory row{};
    env.reset(1, {row, {}});
    const std::size_t count = decoys_of(host).size();
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(env.view().memory().next_decoy(host) == decoy_index(decoys_of(host)[i], host));
      env.step(macro(kDecoy, host), {row, {}});
      CHECK(env.simulator().world().at(host).num_decoys == i + 1);
    }
    CHECK(env.view().memory().next_decoy(host) == decoy_index(decoys_of(host)[0], host));
    env.step(macro(kRestore, host), {row, {}});
    CHECK(env.view().memory().at(host).decoys == 0);
    env.step(macro(kDecoy, host), {row, {}});
    CHECK(env.view().memory().at(host).decoys == 1);
  }
}

TEST_CASE("the memory is what Blue did and saw") {
  Memory memory;
  const std::uint8_t host = host::kEnterprise0;
  memory.note(0, Flag::unknown, shown(host, Activity::scan));
  CHECK(memory.at(host).active == 1);
  CHECK(memory.at(host).num_scans == 1);
  CHECK(memory.at(host).lures == 0);
  memory.note(decoy_index(Decoy::tomcat, host), Flag::yes, 0);
  CHECK(memory.at(host).decoys == 0b10);
  CHECK(memory.at(host).lures == 0);  // red has not looked since
  CHECK(memory.next_decoy(host) == decoy_index(Decoy::haraka, host));
  memory.note(decoy_index(Decoy::haraka, host), Flag::no, shown(host, Activity::scan));
  CHECK(memory.at(host).decoys == 0b10);  // it failed
  CHECK(memory.at(host).lures == 0b10);
  memory.note(0, Flag::unknown, shown(host, Activity::exploit));
  CHECK(memory.at(host).exploited == 4);
  memory.note(action_index(BlueKind::restore, host), Flag::yes, 0);
  CHECK(memory.at(host).repaired == 5);
  CHECK(memory.at(host).num_restores == 1);
  CHECK(memory.at(host).decoys == 0);
  CHECK(memory.at(host).lures == 0b10);  // by the leader board's rules red does not forget
  memory.note(decoy_index(Decoy::vsftpd, host), Flag::yes, 0);
  CHECK(memory.at(host).decoys == 0);  // none of its decoys_of(), which have the bits
}

TEST_CASE("games that look the same to Blue give the same rows, whatever is true") {
  // Against a sleeping red and before red's first event there is nothing to see.
  RowMemory asleep{};
  RowMemory attacked{};
  DefenderEnv one(against("sleep"));
  DefenderEnv other(against("bline"));
  one.reset(1, {asleep, {}});
  other.reset(2, {attacked, {}});
  CHECK(asleep == attacked);
  one.step(macro(kDecoy, host::kUser2), {asleep, {}});
  other.step(macro(kDecoy, host::kUser2), {attacked, {}});
  CHECK(asleep == attacked);
  CHECK(other.simulator().world().knowledge().addresses != bit(host::kUser0));
  other.step(0, {attacked, {}});
  one.step(0, {asleep, {}});
  CHECK(asleep != attacked);  // the first scan
}

TEST_CASE("rows stay between 0 and 1, and every number of them is of use") {
  RowMemory least{};
  RowMemory most{};
  least.fill(1);
  for (const char* red : {"bline", "meander"}) {
    DefenderEnv env(against(red));
    Random random(5);
    RowMemory row{};
    for (std::uint64_t episode = 0; episode < 100; ++episode) {
      env.reset(episode, {row, {}});
      for (int t = 0; t < 100; ++t) {
        env.step(random_macro(random), {row, {}});
        for (std::size_t i = 0; i < kRowSize; ++i) {
          least[i] = std::min(least[i], row[i]);
          most[i] = std::max(most[i], row[i]);
        }
      }
    }
  }
  CHECK(*std::ranges::min_element(least) >= 0);
  CHECK(*std::ranges::max_element(most) <= 1);
  std::size_t idle = 0;
  for (std::size_t i = 0; i < kRowSize; ++i) { idle += least[i] == most[i] ? 1 : 0; }
  MESSAGE(idle, " of ", kRowSize, " numbers never changed");
  CHECK(idle <
        60);  // places of decoys that hosts do not have, marks of hosts that are not attacked
}

TEST_CASE("rewards are weighted by how often the leader board counts a step") {
  CHECK(board_weight(0) == 3);
  CHECK(board_weight(29) == 3);
  CHECK(board_weight(30) == 2);
  CHECK(board_weight(49) == 2);
  CHECK(board_weight(50) == 1);
  CHECK(board_weight(99) == 1);
  DefenderEnv::Config config = against("sleep");
  DefenderEnv plain(config);
  config.board_weights = true;
  DefenderEnv weighted(config);
  RowMemory row{};
  plain.reset(1, {row, {}});
  weighted.reset(1, {row, {}});
  double sum = 0;
  for (int t = 0; t < 100; ++t) {
    const Outcome a = plain.step(macro(kRestore, host::kUser1), {row, {}});
    const Outcome b = weighted.step(macro(kRestore, host::kUser1), {row, {}});
    CHECK(a.reward == -1);
    CHECK(a.terminated == (t == 99));
    CHECK(b.terminated == (t == 99));
    sum += b.reward;
  }
  CHECK(sum == -180);  // 30 + 50 + 100
  CHECK(plain.game_return() == -100);
  CHECK(weighted.game_return() == -100);
}

TEST_CASE("neither reset nor step of the defender allocates") {
  DefenderEnv env(against("mix"));
  Random random(3);
  RowMemory row{};
  penstock::test::largest_allocation();
  for (std::uint64_t episode = 0; episode < 20; ++episode) {
    env.reset(episode, {row, {}});
    for (int t = 0; t < 100; ++t) { env.step(random_macro(random), {row, {}}); }
  }
  CHECK(penstock::test::largest_allocation() == 0);
}

TEST_CASE("a defender's episode goes on from its bytes; impossible ones are refused") {
  DefenderEnv env(against("meander"));
  DefenderEnv loaded(against("meander"));
  Random random(8);
  RowMemory row{};
  RowMemory again{};
  env.reset(4, {row, {}});
  for (int t = 0; t < 40; ++t) { env.step(random_macro(random), {row, {}}); }
  std::vector<std::byte> bytes;
  StateWriter writer(bytes);
  writer(env);
  StateReader reader(bytes);
  reader(loaded);
  for (int t = 0; t < 60; ++t) {
    const std::int64_t action = random_macro(random);
    const Outcome a = env.step(action, {row, {}});
    const Outcome b = loaded.step(action, {again, {}});
    REQUIRE(a.reward == b.reward);
    REQUIRE(row == again);
  }
  CHECK(env.game_return() == loaded.game_return());

  Memory memory;
  std::vector<std::byte> whole;
  StateWriter whole_writer(whole);
  whole_writer(memory);
  std::vector<std::byte> broken = whole;
  broken[0] = std::byte{9};  // active at step 9 of 0
  broken[1] = broken[2] = broken[3] = std::byte{0};
  StateReader bad(broken);
  CHECK_THROWS_AS(bad(memory), DataError);
}

}  // namespace
}  // namespace penstock::cage2::defender_test
