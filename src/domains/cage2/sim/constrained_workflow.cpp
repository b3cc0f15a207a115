#include "domains/cage2/sim/constrained_workflow.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "penstock/core/base/errors.h"

namespace penstock::cage2 {
namespace {

// Of WorkflowEnv::spec().
constexpr std::size_t kComplianceStat = 1;
constexpr std::size_t kLostComplianceStat = 3;
constexpr double kMostMultiplier = 1e6;

WorkflowEnv::Config sharing(WorkflowEnv::Config config,
                            std::shared_ptr<const Multipliers> multipliers) {
  config.multipliers = std::move(multipliers);
  return config;
}

Multipliers first_multipliers(const WorkflowEnv::Config& config) {
  const double slope = config.alpha + config.beta;
  return {.all = config.constrains_all() ? slope : 0, .lost = config.constrains_lost() ? slope : 0};
}

bool possible(double multiplier) { return multiplier >= 0 && std::isfinite(multiplier); }

}  // namespace

ConstrainedWorkflow::ConstrainedWorkflow(WorkflowEnv::Config config, EnvSlice slice,
                                         std::uint64_t seed)
    : constraint_(config.constraint),
      rate_(config.constraint_rate),
      on_all_(config.constrains_all()),
      on_lost_(config.constrains_lost()),
      multipliers_(std::make_shared<Multipliers>(first_multipliers(config))),
      envs_(sharing(std::move(config), multipliers_), slice, seed),
      tallies_(slice.count) {}

void ConstrainedWorkflow::step(EnvRange range, ActionRows actions, ObsRows next,
                               OutcomeRows outcome) {
  envs_.step(range, actions, next, outcome);
  for (std::size_t k = 0; k < range.size(); ++k) {
    if (!outcome.terminated[k] && !outcome.truncated[k]) { continue; }
    Tally& tally = tallies_[range.begin + k];
    tally.compliance += outcome.episode[k].stats[kComplianceStat];
    tally.lost_compliance += outcome.episode[k].stats[kLostComplianceStat];
    tally.episodes += 1;
  }
}

void ConstrainedWorkflow::between_rollouts(const Join& join) {
  std::vector<std::byte> bytes(tallies_.size() * sizeof(Tally));
  std::memcpy(bytes.data(), tallies_.data(), bytes.size());
  if (join) { bytes = join(bytes); }
  Tally all;
  for (std::size_t at = 0; at + sizeof(Tally) <= bytes.size(); at += sizeof(Tally)) {
    Tally each;
    std::memcpy(&each, bytes.data() + at, sizeof(Tally));
    all.compliance += each.compliance;
    all.lost_compliance += each.lost_compliance;
    all.episodes += each.episodes;
  }
  std::ranges::fill(tallies_, Tally{});
  if (all.episodes == 0) { return; }
  const auto grow = [&](double& multiplier, double compliance) {
    const double lacking = constraint_ - compliance / all.episodes;
    multiplier = std::clamp(multiplier + rate_ * lacking, 0.0, kMostMultiplier);
  };
  if (on_all_) { grow(multipliers_->all, all.compliance); }
  if (on_lost_) { grow(multipliers_->lost, all.lost_compliance); }
}

std::vector<std::pair<std::string, double>> ConstrainedWorkflow::take_metrics() {
  std::vector<std::pair<std::string, double>> metrics;
  if (on_all_) { metrics.emplace_back("rollout/multiplier", multipliers_->all); }
  if (on_lost_) { metrics.emplace_back("rollout/lost_multiplier", multipliers_->lost); }
  return metrics;
}

void ConstrainedWorkflow::save(std::vector<std::byte>& out) const {
  StateWriter writer(out);
  writer(*multipliers_);
}

void ConstrainedWorkflow::load(std::span<const std::byte> bytes) {
  Multipliers found;
  StateReader reader(bytes);
  reader(found);
  if (!reader.empty() || !possible(found.all) || !possible(found.lost)) {
    throw DataError("env state: not the multipliers of a cage2_workflow with a constraint");
  }
  *multipliers_ = found;
}

}  // namespace penstock::cage2
