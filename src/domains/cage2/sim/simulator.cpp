#include "penstock/domains/cage2/sim/simulator.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "penstock/core/base/errors.h"

namespace penstock::cage2 {
namespace {

/// A chance as a bound for 32 random bits.
constexpr std::uint32_t chance(double p) { return static_cast<std::uint32_t>(p * 0x1.0p32); }
constexpr double kBestChance = 0.75;
constexpr std::uint32_t kTakesBest = chance(kBestChance);
constexpr std::uint32_t kIsDetected = chance(kDetectionChance);

/// Exploits from the least to the most liked.
constexpr std::array<Exploit, kNumExploits> kByWeight = {
    Exploit::ssh_brute_force, Exploit::blue_keep,    Exploit::eternal_blue,
    Exploit::http_rfi,        Exploit::https_rfi,    Exploit::sql_injection,
    Exploit::haraka_rce,      Exploit::ftp_traversal};

constexpr std::uint8_t best_of(std::uint8_t options) {
  std::uint8_t best = 0;
  for (const Exploit exploit : kByWeight) {
    const auto number = static_cast<std::uint8_t>(exploit);
    if ((options >> number & 1) != 0) { best = number; }
  }
  return best;
}

/// The best exploit of every set of them.
constexpr std::array<std::uint8_t, 256> kBest = [] {
  std::array<std::uint8_t, 256> best{};
  for (unsigned set = 0; set < best.size(); ++set) { best[set] = best_of(set); }
  return best;
}();

constexpr std::array<std::array<float, 4>, 16> kNibbles = [] {
  std::array<std::array<float, 4>, 16> rows{};
  for (unsigned value = 0; value < rows.size(); ++value) {
    for (unsigned i = 0; i < 4; ++i) { rows[value][i] = (value >> i & 1U) != 0 ? 1.0F : 0.0F; }
  }
  return rows;
}();

std::array<std::uint32_t, 3> weights_of(const GameConfig& config) {
  constexpr std::int64_t kMaxWeight = 1'000'000;
  if (config.red == "bline") { return {1, 0, 0}; }
  if (config.red == "meander") { return {0, 1, 0}; }
  if (config.red == "sleep") { return {0, 0, 1}; }
  if (config.red != "mix") {
    throw ConfigError("env.red = " + config.red + ": expected bline, meander, sleep or mix");
  }
  const auto& mix = config.mix;
  const bool good =
      mix.size() == 3 && std::accumulate(mix.begin(), mix.end(), std::int64_t{0}) > 0 &&
      std::all_of(mix.begin(), mix.end(),
                  [](std::int64_t weight) { return weight >= 0 && weight <= kMaxWeight; });
  if (!good) {
    throw ConfigError(
        "env.mix: expected three weights from 0 to 1000000 that are not all 0, of bline, meander "
        "and sleep, as [1, 1, 0]");
  }
  std::array<std::uint32_t, 3> weights{};
  std::transform(mix.begin(), mix.end(), weights.begin(),
                 [](std::int64_t weight) { return static_cast<std::uint32_t>(weight); });
  return weights;
}

}  // namespace

Rules rules_of(const GameConfig& config) {
  Rules rules;
  rules.wrapper = config.wrapper == "v1"   ? Wrapper::v1
                  : config.wrapper == "v2" ? Wrapper::v2
                                           : Wrapper::dbg;
  const bool leaderboard = config.rules == "leaderboard";
  rules.ghost_ports = leaderboard && !config.fix_ghost_ports;
  rules.mail_breaks = leaderboard && !config.fix_restored_mail;
  rules.fix_vsftpd = config.fix_vsftpd;
  rules.fix_smb = config.fix_smb;
  rules.fix_mysql = config.fix_mysql;
  rules.fix_remove_flag = config.fix_remove_flag;
  rules.fix_ssh_pid = config.fix_ssh_pid;
  rules.fix_restore_ot = config.fix_restore_ot;
  rules.reward_user_sessions = config.reward_user_sessions;
  return rules;
}

double exploit_chance(std::uint8_t options, std::uint8_t exploit) {
  const int others = std::popcount(options) - 1;
  if (others == 0) { return 1; }
  return exploit == kBest[options] ? kBestChance : (1 - kBestChance) / others;
}

void write_obs(ObsBits obs, std::span<float> row) {
  for (std::size_t h = 0; h < kNumHosts; ++h, obs >>= 4) {
    std::memcpy(row.data() + 4 * h, kNibbles[obs & 15].data(), sizeof(kNibbles[0]));
  }
}

void write_obs(const WideObs& obs, std::span<float> row) {
  for (std::size_t h = 0; 4 * h < row.size(); ++h) {
    const std::uint64_t nibble = obs.words[h / 16] >> 4 * (h % 16) & 15;
    std::memcpy(row.data() + 4 * h, kNibbles[nibble].data(), sizeof(kNibbles[0]));
  }
}

template <class Size>
BasicSimulator<Size>::BasicSimulator(const Config& config)
    : BasicSimulator(config, scenario2_network(rules_of(config))) {}

template <class Size>
BasicSimulator<Size>::BasicSimulator(const Config& config, const Network& network)
    : world_(rules_of(config), network),
      max_steps_(config.max_steps),
      weights_(weights_of(config)),
      green_(config.green) {}

template <class Size>
EnvSpec BasicSimulator<Size>::spec() const {
  return {Layout({{"hosts", {width(), 4}}}), Discrete{num_actions(width())}, max_steps_};
}

template <class Size>
void BasicSimulator<Size>::reset(std::uint64_t seed, Row row) {
  random_ = Random(seed);
  world_.reset();
  red_ = BasicRed<Set>(draw_red());
  write_obs(world_.obs(), row.obs);
}

template <class Size>
Outcome BasicSimulator<Size>::step(std::int64_t action, Row row) {
  const Trace trace = advance(action);
  write_obs(world_.obs(), row.obs);
  return {.reward = -trace.cost_tenths / 10.0F};
}

template <class Size>
typename BasicSimulator<Size>::Trace BasicSimulator<Size>::advance(std::int64_t action) {
  const BlueReport blue = world_.blue(move_of(action));
  const Events green = green_ ? draw_green() : Events{};
  const RedMove move = draw_move(red_.intend(world_.knowledge(), world_.network()));
  return finish(action, blue, green, move);
}

template <class Size>
typename BasicSimulator<Size>::Trace BasicSimulator<Size>::advance_by(
    std::int64_t action, const BasicIntent<Set>& intent) {
  const BlueReport blue = world_.blue(move_of(action));
  const Events green = green_ ? draw_green() : Events{};
  return finish(action, blue, green, draw_move(intent));
}

template <class Size>
typename BasicSimulator<Size>::Trace BasicSimulator<Size>::advance_forced(std::int64_t action,
                                                                          const RedMove& move) {
  const BlueReport blue = world_.blue(move_of(action));
  const bool allowed = could_draw(red_.intend(world_.knowledge(), world_.network()), move);
  Trace trace = finish(action, blue, {}, move);
  trace.allowed = allowed;
  return trace;
}

template <class Size>
typename BasicSimulator<Size>::Trace BasicSimulator<Size>::finish(std::int64_t action,
                                                                  const BlueReport& blue,
                                                                  const Events& green,
                                                                  const RedMove& move) {
  red_.commit(move.action, move.target);
  const RedReport red = world_.red(move);
  red_.learn(red);
  world_.observe(blue, red.events, green);
  const int restore =
      move_of(action).kind == BlueKind::restore ? world_.network().restore_tenths : 0;
  return {.red = move,
          .blue_flag = blue.flag,
          .red_flag = red.flag,
          .green = green.host,
          .cost_tenths = world_.cost_tenths() + restore};
}

/// Of a host that is padding: sleep.
template <class Size>
BlueMove BasicSimulator<Size>::move_of(std::int64_t action) const {
  const BlueMove move = blue_move(action, width());
  const bool padding = !Size::kFixed && move.host != kNone && move.host >= world_.num_hosts();
  return padding ? BlueMove{} : move;
}

// ---- Chance

template <class Size>
RedKind BasicSimulator<Size>::draw_red() {
  const std::uint32_t total = weights_[0] + weights_[1] + weights_[2];
  for (std::size_t kind = 0; kind < weights_.size(); ++kind) {
    if (weights_[kind] == total) { return static_cast<RedKind>(kind); }
  }
  const std::uint32_t drawn = random_.below(total);
  if (drawn < weights_[0]) { return RedKind::bline; }
  return drawn < weights_[0] + weights_[1] ? RedKind::meander : RedKind::sleep;
}

/// One of the set, evenly; the set is not empty.
template <class Size>
template <class Any>
std::uint8_t BasicSimulator<Size>::draw_member(Any set) {
  const int size = std::popcount(set);
  if (size > 1) {
    for (std::uint32_t skip = random_.below(size); skip > 0; --skip) { set &= set - 1; }
  }
  return std::countr_zero(set);
}

template <class Size>
std::uint8_t BasicSimulator<Size>::draw_exploit(std::uint8_t options) {
  if (options == 0) { return kNone; }
  const std::uint8_t best = kBest[options];
  const std::uint32_t others = options & ~(1U << best);
  if (others == 0 || random_.next() < kTakesBest) { return best; }
  return draw_member(others);
}

template <class Size>
RedMove BasicSimulator<Size>::draw_move(const BasicIntent<Set>& intent) {
  if (intent.action == RedAction::sleep) { return {}; }
  RedMove move{.action = intent.action, .target = draw_member(intent.targets)};
  if (move.action == RedAction::exploit) {
    move.exploit = draw_exploit(world_.exploit_options(move.target));
    move.detected = move.exploit != kNone && random_.next() < kIsDetected;
  } else if (move.action == RedAction::escalate) {
    const HostState& at = world_.at(move.target);
    if (at.privileged == 0 && at.num_sessions > 1) {
      move.session = random_.below(at.num_sessions);
    }
  }
  return move;
}

template <class Size>
bool BasicSimulator<Size>::could_draw(const BasicIntent<Set>& intent, const RedMove& move) const {
  if (move.action != intent.action) { return false; }
  if (move.action == RedAction::sleep) { return true; }
  if (!has(intent.targets, move.target)) { return false; }
  if (move.action != RedAction::exploit) { return true; }
  const std::uint8_t options = world_.exploit_options(move.target);
  return options == 0 ? move.exploit == kNone
                      : move.exploit < kNumExploits && (options >> move.exploit & 1) != 0;
}

template <class Size>
Events BasicSimulator<Size>::draw_green() {
  if (random_.below(2) == 0) { return {}; }
  return world_.scan_events(draw_member<Set>(world_.network().green_hosts()));
}

template class BasicSimulator<ChallengeSize>;
template class BasicSimulator<WideSize>;

}  // namespace penstock::cage2
