#include "penstock/domains/booking/routing/anneal.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "domains/booking/routing/sisr.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/core/base/thread_pool.h"

namespace penstock::booking {
namespace {

// Of the budget, when vehicles come first.
constexpr double kFleetShare = 0.4;

Annealed run_chain(const Instance& instance, const AnnealingConfig& config, std::uint32_t number) {
  Budget budget(config.seconds, config.iterations);
  Chain chain(instance, episode_seed(config.seed, number, 0));
  if (config.vehicles_first) {
    Budget share = budget.share(kFleetShare);
    chain.reduce_fleet(share);
    budget.skip(share.used());
  }
  chain.anneal(budget, config.hot, config.cold);

  Annealed result{.plan = chain.best(), .cost = chain.best_cost(), .unserved = chain.unserved()};
  result.plan.routes.resize(instance.vehicles);
  result.vehicles = std::count_if(result.plan.routes.begin(), result.plan.routes.end(),
                                  [](const auto& route) { return !route.empty(); });
  result.iterations = budget.used();
  return result;
}

}  // namespace

Annealed anneal(const Instance& instance, const AnnealingConfig& config) {
  if (config.seconds <= 0 && config.iterations <= 0) {
    throw UsageError("annealing without an end: give seconds or iterations above 0");
  }
  const std::size_t chains = std::max(1, config.chains);
  std::vector<Annealed> found(chains);
  ThreadPool pool({.num_threads = chains});
  pool.run(chains, [&](std::size_t i) {
    found[i] = run_chain(instance, config, static_cast<std::uint32_t>(i));
  });
  const auto rank = [&](const Annealed& a) {
    return std::tuple(a.unserved, config.vehicles_first ? a.vehicles : 0, a.cost);
  };
  Annealed best = *std::min_element(
      found.begin(), found.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  best.iterations = 0;
  for (const Annealed& one : found) { best.iterations += one.iterations; }
  return best;
}

}  // namespace penstock::booking
