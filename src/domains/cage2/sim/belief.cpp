#include "penstock/domains/cage2/sim/belief.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "penstock/core/base/archive.h"
#include "penstock/core/base/errors.h"

namespace penstock::cage2 {
namespace {

constexpr std::uint64_t kOwnSeed = 0xca6e2;  // of all filters: they know no seed of the game
constexpr std::size_t kMaxGrowth = 64;       // of a filter that goes through the episode again

/// A number of a state's members, as an archive that is told them. Equal states have equal numbers,
/// others by the chance of 64 bits do not.
class Fingerprint {
 public:
  static constexpr bool kLoads = false;

  template <class... T>
  void operator()(const T&... values) {
    (one(values), ...);
  }
  [[nodiscard]] std::uint64_t value() const { return mixed(sum_); }

 private:
  static constexpr std::uint64_t mixed(std::uint64_t x) {  // the finaliser of MurmurHash3
    x = (x ^ x >> 33U) * 0xff51afd7ed558ccd;
    x = (x ^ x >> 33U) * 0xc4ceb9fe1a85ec53;
    return x ^ x >> 33U;
  }
  /// Words do not wait for each other.
  void word(std::uint64_t value) {
    place_ += 0x9e3779b97f4a7c15;
    const std::uint64_t x = (value ^ place_) * 0xff51afd7ed558ccd;
    sum_ += (x ^ x >> 32U) * (place_ | 1U);
  }
  template <class T>
  void one(const T& value) {
    if constexpr (std::has_unique_object_representations_v<T> && sizeof(T) % 8 == 0) {
      std::array<std::uint64_t, sizeof(T) / 8> words;
      std::memcpy(words.data(), &value, sizeof(T));
      for (const std::uint64_t each : words) { word(each); }
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      word(static_cast<std::uint64_t>(value));
    } else {
      // state() serves loading too and so is not const; this archive changes nothing.
      const_cast<T&>(value).state(*this);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    }
  }

  std::uint64_t place_ = 0;
  std::uint64_t sum_ = 0;
};

HostSet active_hosts(ObsBits obs) {
  HostSet active = 0;
  for (std::uint8_t h = 0; h < kNumHosts; ++h) {
    if (activity(obs, h) != Activity::none) { active |= bit(h); }
  }
  return active;
}

bool leaves_events(RedAction action) {
  return action == RedAction::discover_services || action == RedAction::exploit;
}

template <class Function>
void for_each_in(std::uint32_t set, const Function& function) {
  for (; set != 0; set &= set - 1) { function(static_cast<std::uint8_t>(std::countr_zero(set))); }
}

RedKind kind_of(const std::string& red) {
  if (red == "bline") { return RedKind::bline; }
  return red == "meander" ? RedKind::meander : RedKind::sleep;
}

std::array<double, 3> prior_of(const Simulator::Config& game) {
  Simulator::Config any = game;
  any.red = "mix";
  (void)Simulator(any);  // three weights that are not all 0, or a ConfigError
  std::array<double, 3> prior{};
  double sum = 0;
  for (std::size_t k = 0; k < prior.size(); ++k) {
    prior[k] = game.mix[k];
    sum += prior[k];
  }
  if (game.red != "mix" && prior[static_cast<std::size_t>(kind_of(game.red))] == 0) {
    throw ConfigError("env.mix: " + game.red + " has no weight, but env.red = " + game.red +
                      "; env.num_hypotheses takes these weights for how likely each attacker is");
  }
  for (double& each : prior) { each /= sum; }
  return prior;
}

}  // namespace

/// What the moves that may follow a hypothesis share.
struct BeliefFilter::Branch {
  const Seen& seen;
  const World& world;  // after Blue's move
  const Red& red;      // with its intent
  BlueReport blue;
  double weight;
};

BeliefFilter::BeliefFilter(const Simulator::Config& game, std::size_t size)
    : first_{Simulator(game).world(), Red()},
      prior_(prior_of(game)),
      green_(game.green),
      size_(std::max<std::size_t>(size, 1)) {
  history_.reserve(std::clamp<std::int64_t>(game.max_steps, 1, 1000));
  reset();
}

void BeliefFilter::reset() {
  history_.clear();
  num_revivals_ = 0;
  begin();
  sum_up();
}

void BeliefFilter::begin() {
  exact_ = true;
  lost_ = false;
  now_.clear();
  for (std::size_t k = 0; k < prior_.size(); ++k) {
    if (prior_[k] == 0) { continue; }
    now_.push_back(first_);
    now_.back().red = Red(static_cast<RedKind>(k));
    now_.back().weight = prior_[k];
  }
}

void BeliefFilter::note(std::int64_t action, Flag flag, ObsBits obs) {
  history_.push_back({action, obs, flag});
  if (!advance(history_.back(), size_)) { revive(); }
  sum_up();
}

void BeliefFilter::go_through_again() {
  std::vector<Seen> seen;
  seen.swap(history_);
  reset();
  for (const Seen& each : seen) { note(each.action, each.flag, each.obs); }
}

/// Once more from the first step, with more hypotheses at every step.
void BeliefFilter::revive() {
  ++num_revivals_;
  std::vector<Hypothesis> before = now_;
  for (std::size_t growth = 4; growth <= kMaxGrowth; growth *= 4) {
    begin();
    if (std::ranges::all_of(history_,
                            [&](const Seen& seen) { return advance(seen, growth * size_); })) {
      draw_down(size_);
      return;
    }
  }
  now_ = std::move(before);
  exact_ = false;
  lost_ = true;
  advance(history_.back(), size_);
}

bool BeliefFilter::advance(const Seen& seen, std::size_t size) {
  next_.clear();
  table_.assign(std::bit_ceil(8 * size), 0);
  for (const Hypothesis& from : now_) { branch(from, seen); }
  if (next_.empty()) { return false; }
  now_.swap(next_);
  normalise();
  draw_down(size);
  return true;
}

void BeliefFilter::branch(const Hypothesis& from, const Seen& seen) {
  World world = from.world;
  const BlueReport blue = world.blue(blue_move(seen.action));
  if (blue.flag != seen.flag && !lost_) { return; }
  Red red = from.red;
  const Intent intent = red.intend(world.knowledge(), world.network());
  const Branch branch{seen, world, red, blue, from.weight};
  const HostSet active = active_hosts(seen.obs);
  HostSet targets = intent.targets;
  if (active != 0 && !green_ && !lost_) {  // whose activity must be red's
    if (!leaves_events(intent.action)) { return; }
    targets &= active;
  }
  if (intent.action == RedAction::sleep) { return take(branch, {}, 1); }
  const double chance = 1.0 / std::popcount(intent.targets);
  for_each_in(targets, [&](std::uint8_t target) {
    if (intent.action == RedAction::exploit) {
      branch_exploit(branch, target, chance);
    } else if (intent.action == RedAction::escalate) {
      branch_escalate(branch, target, chance);
    } else {
      take(branch, {.action = intent.action, .target = target}, chance);
    }
  });
}

void BeliefFilter::branch_exploit(const Branch& branch, std::uint8_t target, double chance) {
  const std::uint8_t options = branch.world.exploit_options(target);
  RedMove move{.action = RedAction::exploit, .target = target};
  if (options == 0) { return take(branch, move, chance); }
  for_each_in(options, [&](std::uint8_t exploit) {
    const double taken = chance * exploit_chance(options, exploit);
    move.exploit = exploit;
    move.detected = true;
    take(branch, move, taken * kDetectionChance);
    move.detected = false;
    take(branch, move, taken * (1 - kDetectionChance));
  });
}

void BeliefFilter::branch_escalate(const Branch& branch, std::uint8_t target, double chance) {
  const HostState& at = branch.world.at(target);
  RedMove move{.action = RedAction::escalate, .target = target};
  const int choices = at.privileged == 0 && at.num_sessions > 1 ? at.num_sessions : 1;
  for (int session = 0; session < choices; ++session) {
    move.session = session;
    take(branch, move, chance / choices);
  }
}

void BeliefFilter::take(const Branch& branch, const RedMove& move, double chance) {
  if (!green_) {
    take(branch, move, kNone, chance);
    return;
  }
  take(branch, move, kNone, chance * (1 - kGreenChance));
  const HostSet hosts = branch.world.network().green_hosts();
  const double of_host = chance * kGreenChance / std::popcount(hosts);
  for_each_in(hosts, [&](std::uint8_t host) { take(branch, move, host, of_host); });
}

Flag BeliefFilter::take(const Branch& branch, const RedMove& move, std::uint8_t green,
                        double chance) {
  next_.push_back({branch.world, branch.red, branch.weight * chance});
  Hypothesis& to = next_.back();
  const Events scan = green == kNone ? Events{} : to.world.scan_events(green);
  to.red.commit(move.action, move.target);
  const RedReport report = to.world.red(move);
  to.red.learn(report);
  const ObsBits obs = to.world.observe(branch.blue, report.events, scan);
  if (obs == branch.seen.obs || lost_) {
    merge_last();
  } else {
    next_.pop_back();
  }
  return report.flag;
}

/// The newest with one that is equal, if there is any.
void BeliefFilter::merge_last() {
  Hypothesis& last = next_.back();
  Fingerprint print;
  print(last.world, last.red);
  last.print = print.value();
  if (2 * next_.size() > table_.size()) { grow_table(); }
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = last.print & mask;; i = (i + 1) & mask) {
    if (table_[i] == 0) {
      table_[i] = next_.size();
      return;
    }
    Hypothesis& there = next_[table_[i] - 1];
    if (there.print != last.print) { continue; }
    there.weight += last.weight;
    next_.pop_back();
    return;
  }
}

/// With all but the newest.
void BeliefFilter::grow_table() {
  table_.assign(2 * table_.size(), 0);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t place = 0; place + 1 < next_.size(); ++place) {
    std::size_t i = next_[place].print & mask;
    while (table_[i] != 0) { i = (i + 1) & mask; }
    table_[i] = place + 1;
  }
}

void BeliefFilter::normalise() {
  double sum = 0;
  for (const Hypothesis& each : now_) { sum += each.weight; }
  for (Hypothesis& each : now_) { each.weight /= sum; }
}

/// The weight from which on a hypothesis stays as it is, so that `size` are left.
double BeliefFilter::least_kept(std::size_t size) const {
  double least = 2;
  for (double next = 1.0 / static_cast<double>(size); next < least;) {
    least = next;
    double light = 0;
    std::size_t heavy = 0;
    for (const Hypothesis& each : now_) {
      if (each.weight >= least) {
        ++heavy;
      } else {
        light += each.weight;
      }
    }
    if (heavy >= size) { break; }
    next = light / static_cast<double>(size - heavy);
  }
  return least;
}

/// Of the light ones, as many as there is room for are drawn, evenly spaced along their weights,
/// and weigh as much as the least that stays: each has its weight in the mean.
void BeliefFilter::draw_down(std::size_t size) {
  if (now_.size() <= size) { return; }
  exact_ = false;
  const double least = least_kept(size);
  Random random({.seed = kOwnSeed, .episode = history_.size(), .stream = Stream::search});
  double until = random.uniform() * least;
  std::size_t kept = 0;
  for (Hypothesis& each : now_) {
    if (each.weight < least) {
      until -= each.weight;
      if (until >= 0) { continue; }
      until += least;
      each.weight = least;
    }
    if (&now_[kept] != &each) { now_[kept] = each; }
    ++kept;
  }
  now_.erase(now_.begin() + static_cast<std::ptrdiff_t>(kept), now_.end());
  normalise();
}

void BeliefFilter::sum_up() {
  belief_ = {};
  for (const Hypothesis& each : now_) {
    const float weight = each.weight;
    const World& world = each.world;
    for_each_in(world.with_sessions(), [&](std::uint8_t h) { belief_.session[h] += weight; });
    for_each_in(world.with_privileged(), [&](std::uint8_t h) { belief_.privileged[h] += weight; });
    for (std::uint8_t h = 0; h < kNumHosts; ++h) {
      belief_.scanned[h] += world.at(h).known_ports != 0 ? weight : 0;
    }
    belief_.kind[static_cast<std::size_t>(each.red.kind())] += weight;
    belief_.service_down += world.service_up() ? 0 : weight;
    Red red = each.red;
    const Intent intent = red.intend(world.knowledge(), world.network());
    if (intent.action == RedAction::sleep || intent.action == RedAction::discover_systems) {
      continue;
    }
    const float share = weight / static_cast<float>(std::popcount(intent.targets));
    for_each_in(intent.targets, [&](std::uint8_t h) { belief_.next[h] += share; });
  }
}

void BeliefFilter::write(std::span<float> row) const {
  for (std::size_t h = 0; h < kNumHosts; ++h) {
    row[0] = belief_.session[h];
    row[1] = belief_.privileged[h];
    row[2] = belief_.scanned[h];
    row[3] = belief_.next[h];
    row = row.subspan(kFeaturesOfHost);
  }
  std::ranges::copy(belief_.kind, row.begin());
  row[belief_.kind.size()] = belief_.service_down;
}

}  // namespace penstock::cage2
