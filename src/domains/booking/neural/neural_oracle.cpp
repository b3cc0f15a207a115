#include "penstock/domains/booking/neural/neural_oracle.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "penstock/domains/booking/neural/features.h"
#include "penstock/domains/booking/routing/checker.h"

namespace penstock::booking {
namespace {

/// Keeps a construction when it is better than what was found before.
void keep_better(const Construction& found, PlannedTask& best, Plan& room) {
  if (best.complete && !found.done()) { return; }
  found.store(room);
  const Cost cost = cost_of(best.task->instance(), room);
  if (best.complete && cost >= best.cost) { return; }
  best.plan = room;
  best.cost = cost;
  best.complete = found.done();
}

/// The requests of a plan's stops, each once.
std::vector<std::int32_t> served_by(const Instance& instance, const Plan& plan) {
  std::vector<std::int32_t> served;
  for (const auto& route : plan.routes) {
    for (const std::int32_t node : route) {
      const std::int32_t request = instance.request_of(node);
      if (instance.first_node(request) == node) { served.push_back(request); }
    }
  }
  return served;
}

}  // namespace

void plan_tasks(Planner& planner, std::span<PlannedTask> tasks, const NeuralOptions& options) {
  std::vector<const Task*> pointers;
  pointers.reserve(tasks.size());
  for (PlannedTask& task : tasks) {
    task.complete = false;
    pointers.push_back(task.task);
  }
  Construction construction;
  Plan room;
  for (std::size_t first = 0; first < tasks.size();) {
    const std::span<const Task* const> left = std::span(pointers).subspan(first);
    const std::size_t count = Planner::block_of(left);
    for (std::int32_t flip = 0; flip < std::min(options.flips, kFlips); ++flip) {
      planner.encode(left.first(count), flip);
      for (std::size_t i = 0; i < count; ++i) {
        planner.construct(i, construction);
        keep_better(construction, tasks[first + i], room);
      }
    }
    for (PlannedTask& task : tasks.subspan(first, count)) {
      task.first_try = task.complete;
      for (std::int32_t flip = options.flips; flip < kFlips && !task.complete; ++flip) {
        planner.encode({&task.task, 1}, flip);
        planner.construct(0, construction);
        keep_better(construction, task, room);
      }
    }
    first += count;
  }
}

void plan_tasks(const std::shared_ptr<const PackedModel>& model, std::span<PlannedTask> tasks,
                ThreadPool& pool, const NeuralOptions& options) {
  const std::size_t members = pool.num_used();
  std::vector<Planner> planners;
  for (std::size_t i = 0; i < members; ++i) { planners.emplace_back(model); }
  for (std::size_t first = 0; first < tasks.size(); first += options.max_batch) {
    const std::span<PlannedTask> batch =
        tasks.subspan(first, std::min(options.max_batch, tasks.size() - first));
    // Whole blocks for each member: what is in a block with a task does not matter.
    const std::size_t share = (batch.size() + members - 1) / members;
    pool.run(members, [&](std::size_t member) {
      const std::size_t begin = std::min(member * share, batch.size());
      const std::size_t end = std::min(begin + share, batch.size());
      plan_tasks(planners[member], batch.subspan(begin, end - begin), options);
    });
  }
}

NeuralOracle::NeuralOracle(std::shared_ptr<const PackedModel> model, const NeuralOptions& options)
    : planner_(std::move(model)), options_(options) {}

void NeuralOracle::solve(std::span<RoutingProblem> batch) {
  for (std::size_t first = 0; first < batch.size(); first += options_.max_batch) {
    const std::span<RoutingProblem> part =
        batch.subspan(first, std::min(options_.max_batch, batch.size() - first));
    tasks_.resize(std::max(tasks_.size(), part.size()));
    planned_.resize(std::max(planned_.size(), part.size()));
    for (std::size_t i = 0; i < part.size(); ++i) {
      requests_.assign(part[i].served.begin(), part[i].served.end());
      if (part[i].request != RoutingProblem::kNoRequest) { requests_.push_back(part[i].request); }
      tasks_[i].load(*part[i].instance, requests_);
      planned_[i].task = &tasks_[i];
    }
    plan_tasks(planner_, std::span(planned_).first(part.size()), options_);
    for (std::size_t i = 0; i < part.size(); ++i) { finish(part[i], planned_[i]); }
  }
}

void NeuralOracle::finish(RoutingProblem& problem, const PlannedTask& planned) {
  ++tally_.problems;
  tally_.dead_ends += planned.first_try ? 0 : 1;
  problem.fits = true;
  if (problem.request == RoutingProblem::kNoRequest) { return replan(problem, planned); }
  if (options_.or_insertion && planned.complete && insert(problem, planned.cost)) {
    ++tally_.kept;
    return;
  }
  if (planned.complete) {
    *problem.plan = planned.plan;
    problem.cost = planned.cost;
    return;
  }
  if (complete(problem, planned.plan)) {
    ++tally_.repaired;
  } else if (insert(problem, std::numeric_limits<Cost>::max())) {
    ++tally_.inserted;
  } else {
    problem.fits = false;
    ++tally_.refused;
  }
}

/// The network's plan, or the plan so far where it met a dead end or is told to keep what is
/// cheaper.
void NeuralOracle::replan(RoutingProblem& problem, const PlannedTask& planned) const {
  problem.cost = cost_of(*problem.instance, *problem.plan);
  if (!planned.complete || (options_.or_insertion && problem.cost <= planned.cost)) { return; }
  *problem.plan = planned.plan;
  problem.cost = planned.cost;
}

/// Inserts those whom the network left standing.
bool NeuralOracle::complete(RoutingProblem& problem, const Plan& part) {
  const Instance& instance = *problem.instance;
  // With passengers still on board it is no beginning.
  if (find_violation(instance, part, served_by(instance, part))) { return false; }
  routes_.load(instance, part);
  const auto add = [&](std::int32_t request) {
    if (routes_.vehicle_of(request) >= 0) { return true; }
    const Insertion place = routes_.cheapest(request);
    if (place.fits()) { routes_.insert(request, place); }
    return place.fits();
  };
  for (const std::int32_t request : problem.served) {
    if (!add(request)) { return false; }
  }
  if (!add(problem.request)) { return false; }
  routes_.store(*problem.plan);
  problem.cost = routes_.cost();
  return true;
}

/// Into the plan so far, if the result costs less than `below`.
bool NeuralOracle::insert(RoutingProblem& problem, Cost below) {
  problem.plan->routes.resize(problem.instance->vehicles);
  routes_.load(*problem.instance, *problem.plan);
  const Insertion place = routes_.cheapest(problem.request);
  problem.cost = routes_.cost();
  if (!place.fits() || problem.cost + place.added >= below) { return false; }
  routes_.insert(problem.request, place);
  routes_.store(*problem.plan);
  problem.cost = routes_.cost();
  return true;
}

}  // namespace penstock::booking
