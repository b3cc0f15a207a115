#include <algorithm>
#include <cmath>

#include "penstock/core/base/moments.h"
#include "penstock/core/base/student.h"
#include "penstock/domains/cage2/search/search.h"

namespace penstock::cage2 {
namespace {

/// Every number of a result that is a mean over episodes, so that runs of as many can be averaged.
constexpr std::array kMeans = {&WorkflowResult::mean_return,     &WorkflowResult::compliance,
                               &WorkflowResult::eval_compliance, &WorkflowResult::lost_compliance,
                               &WorkflowResult::fixes,           &WorkflowResult::worth,
                               &WorkflowResult::seconds};

Moments returns_of(const std::vector<WorkflowResult>& runs) {
  Moments moments;
  for (const WorkflowResult& run : runs) {
    if (std::isfinite(run.mean_return)) { moments.add(run.mean_return); }
  }
  return moments;
}

WorkflowResult averaged(const std::vector<WorkflowResult>& runs) {
  WorkflowResult mean = runs.front();
  if (runs.size() == 1) { return mean; }
  const auto n = static_cast<double>(runs.size());
  double squares = 0;  // of the standard errors
  std::size_t compliant = 0;
  std::size_t stopped = 0;
  mean.episodes = mean.steps = 0;
  for (const WorkflowResult& run : runs) {
    squares += run.std_error * run.std_error;
    compliant += run.compliant ? 1 : 0;
    stopped += run.stopped_early ? 1 : 0;
    mean.episodes += run.episodes;
    mean.steps += run.steps;
  }
  for (const auto part : kMeans) {
    mean.*part = 0;
    for (const WorkflowResult& run : runs) { mean.*part += run.*part / n; }
  }
  mean.std_error = std::sqrt(squares) / n;
  mean.compliant = 2 * compliant > runs.size();
  mean.stopped_early = stopped == runs.size();
  mean.curve.clear();
  mean.env_compliance.clear();
  mean.digest.clear();
  return mean;
}

}  // namespace

Noise noise_of(const std::vector<Measured>& orders) {
  double squares = 0;
  int freedom = 0;
  for (const Measured& order : orders) {
    const Moments returns = returns_of(order.runs);
    if (returns.count < 2) { continue; }
    squares += returns.m2;
    freedom += static_cast<int>(returns.count) - 1;
  }
  return {freedom > 0 ? squares / freedom : 0, freedom};
}

std::vector<Measured> measured_of(const std::vector<Trial>& trials) {
  std::vector<Measured> orders;
  for (const Trial& trial : trials) {
    auto found = std::ranges::find(orders, trial.index, &Measured::index);
    if (found == orders.end()) { found = orders.insert(found, {trial.index, {}, {}}); }
    found->runs.insert(found->runs.end(), trial.runs.begin(), trial.runs.end());
  }
  const Noise noise = noise_of(orders);
  for (Measured& order : orders) {
    order.result = averaged(order.runs);
    if (noise.freedom > 0) {
      order.result.std_error = std::sqrt(noise.variance / static_cast<double>(order.runs.size()));
    }
  }
  return orders;
}

double half_width(const WorkflowResult& result, const Noise& noise) {
  constexpr double kNormal95 = 1.96;
  const double width =
      noise.freedom > 0 ? student_quantile(static_cast<std::size_t>(noise.freedom)) : kNormal95;
  return width * result.std_error;
}

double half_width_99(const WorkflowResult& result, const Noise& noise) {
  constexpr double kNormal99 = 2.5758;
  const double width =
      noise.freedom > 0 ? student_quantile_99(static_cast<std::size_t>(noise.freedom)) : kNormal99;
  return width * result.std_error;
}

}  // namespace penstock::cage2
