#include "penstock/domains/booking/neural/train/oracle_report.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <numeric>

#include "penstock/core/base/random.h"
#include "penstock/domains/booking/env/offers.h"
#include "penstock/domains/booking/neural/neural_oracle.h"
#include "penstock/domains/booking/routing/checker.h"
#include "penstock/domains/booking/routing/generators.h"

namespace penstock::booking {
namespace {

constexpr std::array<Mode, 2> kModes = {Mode::ride, Mode::deliver};
constexpr std::int32_t kUsual = 30;  // requests of a day

Instance day_of(Mode mode, std::int32_t requests, std::uint64_t seed) {
  // As many vehicles as the env has for 30 requests, in proportion.
  const std::int32_t vehicles = std::max(5, (requests + 5) / 6);
  const char* name = mode == Mode::ride ? "city" : "delivery";
  Instance day;
  make_generator(name, {.mode = mode, .requests = requests, .vehicles = vehicles})->make(seed, day);
  return day;
}

std::vector<std::int32_t> first_requests(std::int32_t count) {
  std::vector<std::int32_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Request by request; those that fit.
struct Played {
  Plan plan;
  Cost cost = 0;
  std::vector<std::int32_t> served;

  void play(const Instance& day, std::int32_t count, std::uint64_t seed, RoutingOracle& oracle) {
    plan.routes.assign(day.vehicles, {});
    for (std::int32_t request = 0; request < count; ++request) {
      RoutingProblem problem{.instance = &day,
                             .served = served,
                             .request = request,
                             .seed = seed + request,
                             .plan = &plan};
      oracle.solve({&problem, 1});
      cost = problem.cost;
      if (problem.fits) { served.push_back(request); }
    }
  }
};

/// The network's plan of the requests that the reference serves.
struct Replanned {
  double gap = 0;
  bool dead_end = false;
  bool helped = false;
  bool feasible = false;
};

Replanned replan(const Instance& day, const Played& reference, NeuralOracle& oracle) {
  std::vector<std::int32_t> served = reference.served;
  Plan plan = reference.plan;
  const std::int32_t last = served.back();
  served.pop_back();
  // The reference's plan without the last request is what there is to fall back on.
  for (auto& route : plan.routes) {
    std::erase_if(route, [&](std::int32_t node) { return day.request_of(node) == last; });
  }
  RoutingProblem problem{.instance = &day, .served = served, .request = last, .plan = &plan};
  const NeuralOracle::Tally before = oracle.tally();
  oracle.solve({&problem, 1});
  Replanned found;
  found.helped = oracle.tally().repaired + oracle.tally().inserted + oracle.tally().refused >
                 before.repaired + before.inserted + before.refused;
  found.dead_end = oracle.tally().dead_ends > before.dead_ends;
  found.feasible = problem.fits && !find_violation(day, plan, reference.served);
  found.gap = static_cast<double>(problem.cost) / reference.cost - 1;
  return found;
}

SizeScore score_size(const std::shared_ptr<const PackedModel>& model, ThreadPool& pool, Mode mode,
                     std::int32_t requests, const OracleReportOptions& options) {
  const std::size_t days = options.days;
  std::vector<Replanned> once(days);
  std::vector<Replanned> eight(days);
  std::vector<double> km(days);
  std::vector<double> day_gap(days);
  pool.run(days, [&](std::size_t i) {
    const std::uint64_t seed = options.seed + i;
    const Instance day = day_of(mode, requests, seed);
    const auto search = make_search_oracle("rr-1000");
    Played reference;
    reference.play(day, requests, seed, *search);
    NeuralOracle single(model);
    NeuralOracle best(model, {.flips = 8});
    NeuralOracle keeping(model, {.or_insertion = true});
    Played played;
    played.play(day, requests, seed, keeping);
    // Were one of them unserved, the cheaper day would be no better.
    const bool alike = played.served.size() == reference.served.size();
    day_gap[i] = alike ? static_cast<double>(played.cost) / reference.cost - 1 : 0;
    once[i] = replan(day, reference, single);
    eight[i] = replan(day, reference, best);
    km[i] = reference.cost / 1e3;
  });
  SizeScore score{.mode = mode, .requests = requests, .days = options.days};
  const double share = 1.0 / days;
  for (std::size_t i = 0; i < days; ++i) {
    score.reference_km += share * km[i];
    score.gap += share * once[i].gap;
    score.gap_of_eight += share * eight[i].gap;
    score.gap_of_day += share * day_gap[i];
    score.first_try += once[i].dead_end ? 0 : share;
    score.without_help += once[i].helped ? 0 : share;
    score.feasible += once[i].feasible ? share : 0;
  }
  return score;
}

/// The costs of the 16 offers for the next request, by one oracle.
std::vector<double> costs_of_offers(const Instance& day, const Played& so_far, std::int32_t request,
                                    std::uint64_t seed, RoutingOracle& oracle) {
  const OfferKind kind = day.mode == Mode::ride ? OfferKind::shift : OfferKind::widen;
  std::vector<Instance> days(kOffers, day);
  std::vector<Plan> plans(kOffers, so_far.plan);
  std::vector<RoutingProblem> problems;
  for (std::int32_t action = 0; action < kOffers; ++action) {
    const std::size_t at = action;
    const RequestWindows windows = offered_windows(day, request, kind, action);
    const std::size_t node = day.first_node(request);
    days[at].nodes[node].window = windows[0];
    if (day.mode == Mode::ride) { days[at].nodes[node + 1].window = windows[1]; }
    problems.push_back({.instance = &days[at],
                        .served = so_far.served,
                        .request = request,
                        .seed = seed,
                        .plan = &plans[at]});
  }
  oracle.solve(problems);
  std::vector<double> costs;
  for (const RoutingProblem& problem : problems) {
    constexpr double kFitsNowhere = 1e9;
    costs.push_back(problem.fits ? problem.cost : kFitsNowhere);
  }
  return costs;
}

RankScore score_ranks(const std::shared_ptr<const PackedModel>& model, ThreadPool& pool, Mode mode,
                      const OracleReportOptions& options) {
  const std::size_t count = options.questions;
  std::vector<std::array<double, 6>> found(count);
  pool.run(count, [&](std::size_t i) {
    const std::uint64_t seed = options.seed + 500'000 + i;
    const Instance day = day_of(mode, kUsual, seed);
    // The 11th to the 30th request, one question per day.
    const std::int32_t request = 10 + i % 20;
    Played so_far;
    so_far.play(day, request, seed, *make_search_oracle("rr-50"));
    const auto ask = [&](RoutingOracle& oracle, std::uint64_t search_seed) {
      return costs_of_offers(day, so_far, request, search_seed, oracle);
    };
    const auto search = make_search_oracle("rr-200");
    NeuralOracle single(model);
    NeuralOracle eight(model, {.flips = 8});
    NeuralOracle keeping(model, {.or_insertion = true});
    const std::vector<double> reference = ask(*search, seed);
    found[i] = {rank_correlation(reference, ask(single, 0)),
                rank_correlation(reference, ask(eight, 0)),
                rank_correlation(reference, ask(keeping, 0)),
                rank_correlation(reference, ask(*make_search_oracle("insertion"), 0)),
                rank_correlation(reference, ask(*search, seed + 1)),
                rank_correlation(reference, ask(*make_search_oracle("rr-1000"), seed + 2))};
  });
  RankScore score{.mode = mode, .questions = options.questions};
  for (const auto& each : found) {
    const double share = 1.0 / count;
    score.neural += share * each[0];
    score.neural_of_eight += share * each[1];
    score.neural_or_insertion += share * each[2];
    score.insertion += share * each[3];
    score.other_seed += share * each[4];
    score.longer += share * each[5];
  }
  return score;
}

SpeedScore score_speed(const std::shared_ptr<const PackedModel>& model, Mode mode,
                       std::int64_t batch, const OracleReportOptions& options) {
  const std::size_t count = batch;
  std::vector<Instance> days;
  for (std::size_t i = 0; i < count; ++i) {
    days.push_back(day_of(mode, kUsual, options.seed + i));
  }
  const std::vector<std::int32_t> all = first_requests(kUsual);
  std::vector<Task> tasks(count);
  std::vector<PlannedTask> planned(count);
  Planner planner(model);
  const auto run = [&] {
    for (std::size_t i = 0; i < count; ++i) {
      tasks[i].load(days[i], all);
      planned[i].task = &tasks[i];
    }
    plan_tasks(planner, planned);
  };
  run();
  // Of processor time: other work on the machine does not count.
  const auto seconds = [begin = std::clock()] {
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  std::int64_t runs = 0;
  for (; seconds() < options.seconds; ++runs) { run(); }
  return {.mode = mode, .batch = batch, .per_second = runs * batch / seconds()};
}

}  // namespace

OracleReport report_oracle(const std::shared_ptr<const PackedModel>& model, ThreadPool& pool,
                           const OracleReportOptions& options) {
  OracleReport report;
  for (const Mode mode : kModes) {
    for (const std::int32_t requests : options.sizes) {
      if (options.days < 1) { break; }
      report.sizes.push_back(score_size(model, pool, mode, requests, options));
    }
    if (options.questions > 0) { report.ranks.push_back(score_ranks(model, pool, mode, options)); }
  }
  if (options.seconds <= 0) { return report; }
  for (const Mode mode : kModes) {
    for (const std::int64_t batch : {1, 64, 256}) {
      report.speeds.push_back(score_speed(model, mode, batch, options));
    }
  }
  return report;
}

}  // namespace penstock::booking
