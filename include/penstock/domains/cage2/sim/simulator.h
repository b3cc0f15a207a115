#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "penstock/core/base/random.h"
#include "penstock/core/env/env.h"
#include "penstock/domains/cage2/sim/network.h"
#include "penstock/domains/cage2/sim/red.h"
#include "penstock/domains/cage2/sim/world.h"

namespace penstock::cage2 {

/// The defaults are the challenge's repository as it stands, against bline.
struct GameConfig {
  std::int64_t max_steps = 100;
  std::string red = "bline";
  std::vector<std::int64_t> mix = {1, 1, 1};  // each 0 to 1000000, not all 0
  std::string wrapper = "v1";
  std::string rules = "head";
  bool green = false;            // in half of the steps, of a user host or an enterprise server
  bool fix_ghost_ports = false;  // this and the next: of rules = leaderboard
  bool fix_restored_mail = false;
  bool fix_vsftpd = false;
  bool fix_smb = false;
  bool fix_mysql = false;
  bool fix_remove_flag = false;
  bool fix_ssh_pid = false;
  bool fix_restore_ot = false;
  bool reward_user_sessions = false;

  /// Each key once, with its help and its limits.
  template <class Visitor>
  void fields(Visitor& visit) {
    fields_against(visit, Choices{"bline", "meander", "sleep", "mix"});
  }
  /// The same with other attackers beside the scripts; no choices: any text.
  template <class Visitor>
  void fields_against(Visitor& visit, Choices reds) {
    visit_length(visit);
    if (reds.words.empty()) {
      visit("red", red,
            "attacker: bline, meander, sleep, mix, or policy files of cage2_red and scripts with "
            "commas; of several, one is drawn for each episode");
    } else {
      visit("red", red, "attacker; mix: drawn for each episode", std::move(reds));
    }
    visit("mix", mix, "weights of bline, meander and sleep where red = mix");
    visit_rules(visit);
  }

 protected:
  template <class Visitor>
  void visit_length(Visitor& visit) {
    visit("max_steps", max_steps, "steps of an episode; the challenge has 30, 50 and 100",
          Range{1, 1e9});
  }
  template <class Visitor>
  void visit_rules(Visitor& visit) {
    visit("wrapper", wrapper,
          "how events are shown. v1: the challenge's way; v2: CardiffUni's; dbg: CybORG++'s",
          Choices{"v1", "v2", "dbg"});
    visit("rules", rules,
          "rules of the game. head: of the repository as it stands; leaderboard: of the day of the "
          "official scores",
          Choices{"head", "leaderboard"});
    visit("green", green, "users scan ports at random; asleep in the challenge");
    visit("fix_ghost_ports", fix_ghost_ports,
          "red forgets ports of decoys that are gone; where rules = head it always does");
    visit("fix_restored_mail", fix_restored_mail,
          "a restored mail server can be exploited again; where rules = head it always can");
    visit("fix_vsftpd", fix_vsftpd, "the Vsftpd decoy opens the port it tests, 21");
    visit("fix_smb", fix_smb, "EternalBlue works on Enterprise1 and 2");
    visit("fix_mysql", fix_mysql, "User3's MySQL listens on 3390");
    visit("fix_remove_flag", fix_remove_flag, "Remove reports whether it removed");
    visit("fix_ssh_pid", fix_ssh_pid, "Remove can end sessions that were brute-forced");
    visit("fix_restore_ot", fix_restore_ot, "Restore of Op_Server0 does not disarm Impact");
    visit("reward_user_sessions", reward_user_sessions, "user sessions cost like privileged ones");
  }
};

/// CAGE Challenge 2, Scenario 2, as its Blue agent sees it: 145 actions, 52 bits of observation,
/// step by step what CybORG does. Actions, observation, reward and the rules that may be switched:
/// docs/cage2/README.md.
///
///     Simulator game({.red = "meander"});
///     game.reset(7, row);  // row.obs has 52 floats
///     const Outcome outcome = game.step(action_index(BlueKind::restore, host::kUser1), row);
///
/// An episode is a function of (config, seed, actions). A step allocates nothing. BatchedEnv
/// truncates at max_steps; nothing terminates.
///
/// Simulator is that of Scenario 2; WideSimulator has room for 64 hosts of any network, with
/// actions and bits as docs/cage2/scenarios.md tells.
template <class Size>
class BasicSimulator {
 public:
  using Config = GameConfig;
  using Set = typename Size::Set;
  using Obs = typename Size::Obs;

  /// Throws ConfigError when `mix` is not three weights.
  /// Scenario 2.
  explicit BasicSimulator(const Config& config);
  /// Another network, which must outlive it; made by the config's rules_of().
  BasicSimulator(const Config& config, const Network& network);

  /// One part, "hosts" {13, 4}.
  [[nodiscard]] EnvSpec spec() const;
  /// Draws the attacker where red = mix.
  void reset(std::uint64_t seed, Row row);
  /// Blue, then green, then red. The reward is 0 or less, in tenths; anything but the 145 is sleep.
  Outcome step(std::int64_t action, Row row);

  /// What a step was made of, for replay and for people.
  struct Trace {
    RedMove red;                     // as drawn, or as forced
    Flag blue_flag = Flag::unknown;  // whether Blue's action succeeded
    Flag red_flag = Flag::unknown;
    std::uint8_t green = kNone;  // the host that Green scanned
    bool allowed = true;         // a forced move is one that red's rules could have drawn
    int cost_tenths = 0;         // minus ten times the reward
  };
  /// Steps without a row; obs() has the result. The hot call: flat, so that draws are inlined.
  [[gnu::flatten]] Trace advance(std::int64_t action);
  /// The same with what red means to do given: chance decides the rest. Targets must exist.
  Trace advance_by(std::int64_t action, const BasicIntent<Set>& intent);
  /// From now on red is this script; after reset().
  void set_red(RedKind kind) { red_ = BasicRed<Set>(kind); }
  /// The same with what red did given instead of drawn. The move's host or subnet must exist.
  Trace advance_forced(std::int64_t action, const RedMove& move);

  /// What Blue sees, and what it does not; references live as long as the simulator.
  [[nodiscard]] Obs obs() const { return world_.obs(); }
  [[nodiscard]] const BasicWorld<Size>& world() const { return world_; }
  [[nodiscard]] const BasicRed<Set>& red() const { return red_; }

  /// Loading throws DataError for what no episode can have.
  template <class Archive>
  void state(Archive& archive) {
    archive(random_, red_, world_);
    if constexpr (Archive::kLoads) { red_.require_possible(world_.network()); }
  }

 private:
  [[nodiscard]] RedKind draw_red();
  RedMove draw_move(const BasicIntent<Set>& intent);
  std::uint8_t draw_exploit(std::uint8_t options);
  template <class Any>
  std::uint8_t draw_member(Any set);
  [[nodiscard]] bool could_draw(const BasicIntent<Set>& intent, const RedMove& move) const;
  Trace finish(std::int64_t action, const BlueReport& blue, const Events& green,
               const RedMove& move);
  Events draw_green();
  [[nodiscard]] BlueMove move_of(std::int64_t action) const;
  [[nodiscard]] std::int64_t width() const {
    return Size::kFixed ? std::int64_t{Size::kMaxHosts} : world_.network().width;
  }

  BasicWorld<Size> world_;
  BasicRed<Set> red_;
  Random random_;
  std::int64_t max_steps_;
  std::array<std::uint32_t, 3> weights_{};  // of the kinds of red
  bool green_;
};

using Simulator = BasicSimulator<ChallengeSize>;
using WideSimulator = BasicSimulator<WideSize>;
extern template class BasicSimulator<ChallengeSize>;
extern template class BasicSimulator<WideSize>;

/// The rules that a config's keys name.
Rules rules_of(const GameConfig& config);

/// What chance decides, for those who reckon with what red may have done.
/// An exploit is taken with this chance among `options`, one bit each, of which it is one.
double exploit_chance(std::uint8_t options, std::uint8_t exploit);
/// Blue is told of an exploit's process.
constexpr double kDetectionChance = 0.95;
/// Green scans one of the network's green_hosts() in this share of the steps.
constexpr double kGreenChance = 0.5;

/// Writes the 52 bits as zeros and ones.
/// [52], host by host.
void write_obs(ObsBits obs, std::span<float> row);
/// Four numbers of each host that the row has room for.
void write_obs(const WideObs& obs, std::span<float> row);

}  // namespace penstock::cage2
