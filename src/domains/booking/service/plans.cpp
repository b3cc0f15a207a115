#include "domains/booking/service/plans.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "penstock/core/base/errors.h"

namespace penstock::booking::service {
namespace {

constexpr std::size_t kMostPlans = 100'000;

/// DEPOT and DATE of DEPOT.DATE.
std::pair<std::string, std::string> parts_of(const std::string& id) {
  const std::size_t dot = id.rfind('.');
  if (dot == std::string::npos) { return {id, ""}; }
  return {id.substr(0, dot), id.substr(dot + 1)};
}

}  // namespace

Plans::Plans(const std::vector<std::string>& fleets, Store& store, bool forecast) : store_(store) {
  for (const std::string& file : fleets) {
    const std::string depot = std::filesystem::path(file).stem().string();
    if (!fleets_.try_emplace(depot, file, forecast).second) {
      throw UsageError(
          fmt::format("--fleet {}: there is a depot {} already; rename the file", file, depot));
    }
  }
}

const Fleet& Plans::fleet_of(const std::string& id) const {
  const auto [depot, date] = parts_of(id);
  const auto found = fleets_.find(depot);
  if (found == fleets_.end() || !is_date(date)) {
    std::string depots;
    for (const auto& [name, unused] : fleets_) { depots += (depots.empty() ? "" : ", ") + name; }
    throw NoSuchPlan(fmt::format("no plan {}: plans are DEPOT.YYYY-MM-DD; the depots are {}",
                                 id.substr(0, 80), depots));
  }
  return found->second;
}

Plan& Plans::open(const std::string& id) {
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = plans_.find(id); found != plans_.end()) { return *found->second; }
  }
  auto made = std::make_unique<Plan>(id, fleet_of(id));
  const std::lock_guard lock(mutex_);
  if (plans_.size() >= kMostPlans) {
    throw NoSuchPlan(
        fmt::format("{} plans are in memory, no more fit; start the service again, or "
                    "another for other depots",
                    plans_.size()));
  }
  Plan& plan = *plans_.emplace(id, std::move(made)).first->second;
  size_ = plans_.size();
  return plan;
}

void Plans::refresh(Plan& plan) {
  const std::string& id = plan.day.id();
  if (!plan.stale && store_.shared()) { plan.stale = store_.version(id) != plan.day.version(); }
  if (!plan.stale) { return; }
  const std::uint64_t generation = plan.day.generation() + 1;
  const auto stored = store_.load(id);
  plan.day = stored ? Day(*stored, plan.fleet) : Day(id, plan.fleet);
  plan.day.begin_generation(generation);
  plan.stale = false;
}

void Plans::load_since(const std::string& date) {
  for (const std::string& id : store_.plans()) {
    if (parts_of(id).second < date) { continue; }
    try {
      Plan& plan = open(id);
      const std::lock_guard lock(plan.mutex);
      refresh(plan);
    } catch (const NoSuchPlan& error) {
      throw DataError(
          fmt::format("the store: {}; give the depot's file with --fleet", error.what()));
    }
  }
}

std::vector<std::string> Plans::names() {
  std::set<std::string> names;
  for (std::string& id : store_.plans()) { names.insert(std::move(id)); }
  const std::shared_lock lock(mutex_);
  for (const auto& [id, unused] : plans_) { names.insert(id); }
  return {names.begin(), names.end()};
}

std::vector<std::string> Plans::depots() const {
  std::vector<std::string> names;
  for (const auto& [depot, unused] : fleets_) { names.push_back(depot); }
  return names;
}

}  // namespace penstock::booking::service
