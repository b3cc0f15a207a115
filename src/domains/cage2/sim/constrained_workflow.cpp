#include "domains/cage2/sim/constrained_workflow.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "penstock/core/base/errors.h"

namespace penstock::cage2 {
namespace {

constexpr std::size_t kComplianceStat = 1;  // of WorkflowEnv::spec()
constexpr double kMostMultiplier = 1e6;

WorkflowEnv::Config sharing(WorkflowEnv::Config config, std::shared_ptr<const double> multiplier) {
  config.multiplier = std::move(multiplier);
  return config;
}

}  // namespace

ConstrainedWorkflow::ConstrainedWorkflow(WorkflowEnv::Config config, EnvSlice slice,
                                         std::uint64_t seed)
    : constraint_(config.constraint),
      rate_(config.constraint_rate),
      multiplier_(std::make_shared<double>(config.alpha + config.beta)),
      envs_(sharing(std::move(config), multiplier_), slice, seed),
      tallies_(slice.count) {}

void ConstrainedWorkflow::step(EnvRange range, ActionRows actions, ObsRows next,
                               OutcomeRows outcome) {
  envs_.step(range, actions, next, outcome);
  for (std::size_t k = 0; k < range.size(); ++k) {
    if (!outcome.terminated[k] && !outcome.truncated[k]) { continue; }
    Tally& tally = tallies_[range.begin + k];
    tally.compliance += outcome.episode[k].stats[kComplianceStat];
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
    all.episodes += each.episodes;
  }
  std::ranges::fill(tallies_, Tally{});
  if (all.episodes == 0) { return; }
  const double lacking = constraint_ - all.compliance / all.episodes;
  *multiplier_ = std::clamp(*multiplier_ + rate_ * lacking, 0.0, kMostMultiplier);
}

std::vector<std::pair<std::string, double>> ConstrainedWorkflow::take_metrics() {
  return {{"rollout/multiplier", *multiplier_}};
}

void ConstrainedWorkflow::save(std::vector<std::byte>& out) const {
  const std::size_t end = out.size();
  out.resize(end + sizeof(double));
  std::memcpy(out.data() + end, multiplier_.get(), sizeof(double));
}

void ConstrainedWorkflow::load(std::span<const std::byte> bytes) {
  double found = -1;
  if (bytes.size() == sizeof(double)) { std::memcpy(&found, bytes.data(), sizeof(double)); }
  if (!(found >= 0) || !std::isfinite(found)) {
    throw DataError("env state: not the multiplier of a cage2_workflow with a constraint");
  }
  *multiplier_ = found;
}

}  // namespace penstock::cage2
