#include "penstock/domains/cage2/search/synthetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "penstock/core/base/random.h"
#include "penstock/domains/cage2/search/order.h"

namespace penstock::cage2 {
namespace {

Random random_of(std::uint64_t seed, std::uint32_t owner, std::uint64_t use) {
  return Random({.seed = seed, .owner = owner, .episode = use, .stream = Stream::benchmark});
}

// Towards the final values, as learning does: fast, then slowly, with some noise.
std::vector<CurvePoint> curve_of(const WorkflowJob& job, const WorkflowResult& result) {
  constexpr int kPoints = 20;
  Random random = random_of(job.seed, 2, 0);
  std::vector<CurvePoint> curve;
  for (int i = 1; i <= kPoints; ++i) {
    const double left = std::exp(-4.0 * i / kPoints);
    curve.push_back(
        {result.steps * i / kPoints,
         result.mean_return - 300 * left + 6 * random.normal() * (left + 0.2),
         std::clamp(result.compliance - 0.55 * left + 0.02 * random.normal(), 0.0, 1.0)});
  }
  return curve;
}

}  // namespace

// Each pair of types has its effect, and what stands first counts by itself.
double Synthetic::value_of(const Order& order) const {
  Random random = random_of(landscape, 0, 0);
  double value = -45;
  for (const int sign : search::pair_signs(order)) { value += 3.0 * sign * random.normal(); }
  std::array<double, 5> first{};
  for (double& each : first) { each = 4.0 * random.normal(); }
  return value + first[order[0]];
}

WorkflowResult Synthetic::operator()(const WorkflowJob& job) const {
  std::this_thread::sleep_for(std::chrono::duration<double>(delay_s));
  Random random = random_of(job.seed, 1, 0);
  const std::uint32_t index = search::index_of(job.order);
  const bool stubborn = !all_comply && random_of(landscape, 3, index).uniform() < 0.08;

  WorkflowResult result{};
  result.order = job.order;
  result.std_error = noise * random.uniform(0.7, 1.3);
  result.mean_return = value_of(job.order) + result.std_error * random.normal();
  if (!job.conditioned) { result.mean_return += 2; }
  result.compliance = stubborn || !job.conditioned ? random.uniform(0.55, 0.85)
                                                   : random.uniform(job.compliance_threshold, 1);
  result.compliant = result.compliance >= job.compliance_threshold;
  result.stopped_early = result.compliant;
  result.eval_compliance = result.lost_compliance = result.compliance;
  result.fixes = 20;
  result.worth = result.mean_return + 10 * result.compliance - 10 * (1 - result.compliance);
  const int most = job.n_envs * job.train_episodes_per_env;
  result.episodes = result.compliant ? most / 2 + random.below(most / 2) : most;
  result.steps = result.episodes * 100;
  result.seconds = delay_s;
  result.curve = curve_of(job, result);
  result.digest = fmt::format("{:016x}", random.next64());
  return result;
}

}  // namespace penstock::cage2
