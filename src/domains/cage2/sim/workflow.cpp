#include "penstock/domains/cage2/sim/workflow.h"

#include "penstock/core/base/errors.h"
#include "penstock/core/base/shuffle.h"

namespace penstock::cage2 {
namespace {

constexpr TypeSet bit_of(UnitType type) { return 1U << static_cast<unsigned>(type); }

bool is_random(const WorkflowEnv::Config& config) { return config.order == "random"; }

BlueView view_of(const WorkflowEnv::Config& config) {
  if (config.mask == "order" && config.compliance_rule != "B") {
    throw ConfigError("env.mask = order: it keeps to rule B; set env.compliance_rule = B");
  }
  BlueKeys keys = config;
  if (is_random(config)) { keys.order = BlueKeys{}.order; }  // until one is drawn
  return {keys, config, config.show_order};
}

}  // namespace

bool complies_a(const Order& order, UnitType type, TypeSet fixed) {
  for (const int higher : order) {
    if (higher == static_cast<int>(type)) { return true; }
    if ((fixed >> higher & 1U) == 0) { return false; }
  }
  return false;
}

bool complies_b(const Order& order, UnitType type, TypeSet lost) {
  for (const int each : order) {
    if ((lost >> each & 1U) != 0) { return each == static_cast<int>(type); }
  }
  return true;
}

void Judgement::judge(std::int64_t action, HostSet with_sessions, const Order& order, bool rule_a) {
  const std::uint8_t host = fixed_host(action);
  if (host == kNone) { return; }
  const UnitType type = type_of(host);
  const HostSet held = lost_hosts(with_sessions);
  const bool complies =
      rule_a ? complies_a(order, type, fixed) : complies_b(order, type, types_of(held));
  all.count(complies);
  if (has(held, host)) { lost.count(complies); }
  fixed |= bit_of(type);
}

WorkflowEnv::WorkflowEnv(const Config& config)
    : simulator_(config),
      view_(view_of(config)),
      max_steps_(config.max_steps),
      alpha_(config.alpha),
      beta_(config.beta),
      constraint_(config.constraint),
      multipliers_(config.multipliers),
      random_order_(is_random(config)),
      rule_a_(config.compliance_rule == "A") {}

EnvSpec WorkflowEnv::spec() const {
  EnvSpec spec = view_.spec(Layout({{"obs", {kObsSize}}}), max_steps_);
  spec.stats = {"game_return", "compliance", "fixes", "lost_compliance"};
  return spec;
}

void WorkflowEnv::reset(std::uint64_t seed, Row row) {
  simulator_.reset(seed, {row.obs.first(kObsSize), {}});
  if (random_order_) { draw_order(seed); }
  view_.reset();
  judgement_ = {};
  steps_ = 0;
  cost_tenths_ = 0;
  paid_ = 0;
  price_ = {};
  view_.write(simulator_.obs(), row);
}

/// Not of the game's own numbers: the same seed is the same game for every order.
void WorkflowEnv::draw_order(std::uint64_t seed) {
  Random random({.seed = seed, .owner = 1});
  Order order{0, 1, 2, 3, 4};
  shuffle(order, random);
  view_.set_order(order);
}

double WorkflowEnv::worth() const {
  const double c = judgement_.all.ratio();
  if (!multipliers_) { return game_return() + alpha_ * c - beta_ * (1 - c); }
  return game_return() + price_.all * (c - constraint_) +
         price_.lost * (judgement_.lost.ratio() - constraint_);
}

Outcome WorkflowEnv::step(std::int64_t choice, Row row) {
  // Not in reset(), which may come before the rollout of the episode begins.
  if (multipliers_ && steps_ == 0) { price_ = *multipliers_; }
  const std::int64_t action = view_.action_of(choice);
  judgement_.judge(action, simulator_.world().with_sessions(), order(), rule_a_);
  const Simulator::Trace trace = simulator_.advance(action);
  cost_tenths_ += trace.cost_tenths;
  view_.note(action, trace.blue_flag, simulator_.obs());
  // Against what was really paid, so that rounding does not add up.
  const float reward = worth() - paid_;
  paid_ += reward;
  ++steps_;
  view_.write(simulator_.obs(), row);
  return {.reward = reward, .terminated = steps_ >= max_steps_};
}

void WorkflowEnv::episode_stats(std::span<double> stats) const {
  stats[0] = game_return();
  stats[1] = judgement_.all.ratio();
  stats[2] = judgement_.all.fixes;
  stats[3] = judgement_.lost.ratio();
}

void WorkflowEnv::require_possible() const {
  const bool good =
      is_order(order()) && judgement_.possible() && price_.all >= 0 && price_.lost >= 0;
  if (!good) { throw DataError("env state: a value that no episode of cage2_workflow can have"); }
}

}  // namespace penstock::cage2
