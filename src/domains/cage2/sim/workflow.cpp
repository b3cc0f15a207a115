#include "penstock/domains/cage2/sim/workflow.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/shuffle.h"
#include "penstock/domains/cage2/sim/defender.h"

namespace penstock::cage2 {
namespace {

constexpr std::array<std::string_view, kNumTypes> kTypeNames = {"defender", "enterprise",
                                                                "op_server", "op_host", "user"};

constexpr std::array<UnitType, kNumHosts> kTypes = [] {
  std::array<UnitType, kNumHosts> types{};
  types.fill(UnitType::user);
  types[host::kDefender] = UnitType::defender;
  for (const std::uint8_t h : {host::kEnterprise0, host::kEnterprise1, host::kEnterprise2}) {
    types[h] = UnitType::enterprise;
  }
  for (std::uint8_t h = host::kOpHost0; h < host::kOpServer0; ++h) { types[h] = UnitType::op_host; }
  types[host::kOpServer0] = UnitType::op_server;
  return types;
}();

ActionMask mask_of(const WorkflowEnv::Config& config) {
  if (config.mask == "order" && config.compliance_rule != "B") {
    throw ConfigError("env.mask = order: it keeps to rule B; set env.compliance_rule = B");
  }
  return config.mask == "order"   ? ActionMask::order
         : config.mask == "legal" ? ActionMask::legal
                                  : ActionMask::none;
}

constexpr TypeSet type_bit(int type) { return 1U << type; }

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw ConfigError("env.order = " + text + ": " + why +
                    "; expected random, or each of defender, enterprise, op_server, op_host and "
                    "user once, the most urgent first, with commas");
}

int type_number(const std::string& text, std::string_view word) {
  const auto* found = std::ranges::find(kTypeNames, word);
  if (found == kTypeNames.end()) {
    const std::vector<std::string> names(kTypeNames.begin(), kTypeNames.end());
    refuse(text, std::string(word) + " is not a type of hosts" + did_you_mean(word, names));
  }
  return found - kTypeNames.begin();
}

std::string_view trimmed(std::string_view word) {
  while (!word.empty() && word.front() == ' ') { word.remove_prefix(1); }
  while (!word.empty() && word.back() == ' ') { word.remove_suffix(1); }
  return word;
}

}  // namespace

std::string_view type_name(UnitType type) { return kTypeNames[static_cast<std::size_t>(type)]; }

UnitType type_of(std::uint8_t host) { return kTypes[host]; }

TypeSet types_of(HostSet hosts) {
  TypeSet types = 0;
  for (; hosts != 0; hosts &= hosts - 1) {
    types |= type_bit(static_cast<int>(kTypes[std::countr_zero(hosts)]));
  }
  return types;
}

bool is_order(const Order& order) {
  TypeSet seen = 0;
  for (const int type : order) {
    if (type < 0 || type >= static_cast<int>(kNumTypes)) { return false; }
    seen |= type_bit(type);
  }
  return std::popcount(seen) == static_cast<int>(kNumTypes);
}

Order order_of(const std::string& text) {
  Order order{};
  std::string_view rest = text;
  for (std::size_t i = 0; i < kNumTypes; ++i) {
    const std::size_t comma = rest.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == kNumTypes)) {
      refuse(text, "there are five types");
    }
    order[i] = type_number(text, trimmed(rest.substr(0, comma)));
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  if (!is_order(order)) { refuse(text, "a type comes twice"); }
  return order;
}

std::string order_name(const Order& order) {
  std::string name;
  for (const int type : order) {
    if (!name.empty()) { name += ','; }
    name += type_name(static_cast<UnitType>(type));
  }
  return name;
}

void write_order(const Order& order, std::span<float> row) {
  std::ranges::fill(row, 0.0F);
  for (std::size_t i = 0; i < kNumTypes; ++i) { row[i * kNumTypes + order[i]] = 1.0F; }
}

std::uint8_t fixed_host(std::int64_t action) {
  const BlueMove move = blue_move(action);
  return move.kind == BlueKind::remove || move.kind == BlueKind::restore ? move.host : kNone;
}

bool complies_a(const Order& order, UnitType type, TypeSet fixed) {
  for (const int higher : order) {
    if (higher == static_cast<int>(type)) { return true; }
    if ((fixed & type_bit(higher)) == 0) { return false; }
  }
  return false;
}

bool complies_b(const Order& order, UnitType type, TypeSet lost) {
  for (const int each : order) {
    if ((lost & type_bit(each)) != 0) { return each == static_cast<int>(type); }
  }
  return true;
}

HostSet most_urgent(const Order& order, HostSet hosts) {
  HostSet of_type = 0;
  for (const int type : order) {
    for (HostSet left = hosts; left != 0; left &= left - 1) {
      const auto host = static_cast<std::uint8_t>(std::countr_zero(left));
      if (static_cast<int>(type_of(host)) == type) { of_type |= bit(host); }
    }
    if (of_type != 0) { break; }
  }
  return of_type;
}

WorkflowEnv::WorkflowEnv(const Config& config)
    : simulator_(config),
      max_steps_(config.max_steps),
      alpha_(config.alpha),
      beta_(config.beta),
      constraint_(config.constraint),
      multiplier_(config.multiplier),
      random_order_(config.order == "random"),
      rule_a_(config.compliance_rule == "A"),
      show_order_(config.show_order),
      show_memory_(config.memory),
      macro_(config.macro),
      mask_(mask_of(config)) {
  if (!random_order_) { order_ = order_of(config.order); }
}

EnvSpec WorkflowEnv::spec() const {
  const std::int64_t num_actions = macro_ ? kNumMacros : kNumActions;
  EnvSpec spec{Layout({{"obs", {kObsSize}}}), Discrete{num_actions, mask_ != ActionMask::none},
               max_steps_};
  if (show_order_) { spec.obs.append("order", {kNumTypes, kNumTypes}); }
  if (show_memory_) { spec.obs.append("memory", {Memory::kSize}); }
  spec.stats = {"game_return", "compliance", "fixes", "lost_compliance"};
  return spec;
}

void WorkflowEnv::reset(std::uint64_t seed, Row row) {
  simulator_.reset(seed, {row.obs.first(kObsSize), {}});
  if (random_order_) { draw_order(seed); }
  fixed_ = 0;
  compliance_ = lost_compliance_ = {};
  steps_ = 0;
  cost_tenths_ = 0;
  paid_ = 0;
  price_ = 0;
  memory_.reset();
  write(row);
}

/// Not of the game's own numbers: the same seed is the same game for every order.
void WorkflowEnv::draw_order(std::uint64_t seed) {
  Random random({.seed = seed, .owner = 1});
  order_ = {0, 1, 2, 3, 4};
  shuffle(order_, random);
}

/// By the state that the action meets.
void WorkflowEnv::judge(std::int64_t action) {
  const std::uint8_t host = fixed_host(action);
  if (host == kNone) { return; }
  const UnitType type = type_of(host);
  const HostSet lost = lost_hosts(simulator_.world().with_sessions());
  const bool complies =
      rule_a_ ? complies_a(order_, type, fixed_) : complies_b(order_, type, types_of(lost));
  compliance_.count(complies);
  if (has(lost, host)) { lost_compliance_.count(complies); }
  fixed_ |= type_bit(static_cast<int>(type));
}

double WorkflowEnv::worth() const {
  const double c = compliance_.ratio();
  if (multiplier_) { return game_return() + price_ * (c - constraint_); }
  return game_return() + alpha_ * c - beta_ * (1 - c);
}

std::int64_t WorkflowEnv::action_of(std::int64_t choice) const {
  return macro_ ? macro_action(choice, memory_) : choice;
}

Outcome WorkflowEnv::step(std::int64_t choice, Row row) {
  // Not in reset(), which may come before the rollout of the episode begins.
  if (multiplier_ && steps_ == 0) { price_ = *multiplier_; }
  const std::int64_t action = action_of(choice);
  judge(action);
  const Simulator::Trace trace = simulator_.advance(action);
  cost_tenths_ += trace.cost_tenths;
  if (remembers()) { memory_.note(action, trace.blue_flag, simulator_.obs()); }
  // Against what was really paid, so that rounding does not add up.
  const float reward = worth() - paid_;
  paid_ += reward;
  ++steps_;
  write(row);
  return {.reward = reward, .terminated = steps_ >= max_steps_};
}

void WorkflowEnv::write(Row row) const {
  write_obs(simulator_.obs(), row.obs.first(kObsSize));
  std::span<float> rest = row.obs.subspan(kObsSize);
  if (show_order_) {
    write_order(order_, rest.first(kOrderSize));
    rest = rest.subspan(kOrderSize);
  }
  if (show_memory_) { memory_.write(rest.first(Memory::kSize)); }
  if (mask_ != ActionMask::none) { write_mask(row.legal); }
}

/// From the table, the memory and the order alone. Sleep stays, so that something always does.
void WorkflowEnv::write_mask(std::span<bool> legal) const {
  const HostSet fixable = mask_ == ActionMask::order
                              ? most_urgent(order_, flagged_hosts(simulator_.obs(), memory_))
                              : kAllHosts;
  for (std::size_t i = 0; i < legal.size(); ++i) {
    const std::int64_t action = action_of(static_cast<std::int64_t>(i));
    const std::uint8_t host = fixed_host(action);
    legal[i] = host == kNone ? !is_futile(action, memory_) : has(fixable, host);
  }
}

void WorkflowEnv::episode_stats(std::span<double> stats) const {
  stats[0] = game_return();
  stats[1] = compliance_.ratio();
  stats[2] = compliance_.fixes;
  stats[3] = lost_compliance_.ratio();
}

void WorkflowEnv::require_possible() const {
  const bool good = is_order(order_) && fixed_ < 1U << kNumTypes && compliance_.possible() &&
                    lost_compliance_.possible() && price_ >= 0;
  if (!good) { throw DataError("env state: a value that no episode of cage2_workflow can have"); }
}

}  // namespace penstock::cage2
