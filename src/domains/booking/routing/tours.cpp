#include "penstock/domains/booking/routing/tours.h"

namespace penstock::booking {

void Tours::clear(const Instance& instance) {
  routes_.clear(instance);
  routes_.store(plan_);
}

void Tours::load(const Instance& instance, const Plan& plan) {
  routes_.load(instance, plan);
  routes_.store(plan_);
}

void Tours::insert(std::int32_t request, const Insertion& at) {
  const Instance& instance = routes_.instance();
  const std::int32_t node = instance.first_node(request);
  auto& route = plan_.routes[at.vehicle];
  if (instance.mode == Mode::ride) { route.insert(route.begin() + at.second, node + 1); }
  route.insert(route.begin() + at.first, node);
  routes_.insert(request, at);
}

void Tours::remove(std::int32_t request) {
  const Insertion was = routes_.remove(request);
  auto& route = plan_.routes[was.vehicle];
  route.erase(route.begin() + was.first);
  if (routes_.instance().mode == Mode::ride) { route.erase(route.begin() + was.second); }
}

}  // namespace penstock::booking
