#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking {

/// The windows of a request's nodes: [0] alone in deliver mode, pickup and drop-off in ride mode.
using RequestWindows = std::array<Window, 2>;

/// Where a request fits, and what it adds.
struct Insertion {
  static constexpr Cost kNowhere = std::numeric_limits<Cost>::max();
  Cost added = kNowhere;
  std::int32_t vehicle = 0;
  std::int32_t first = 0;   // the pickup (or the only stop) comes before this position
  std::int32_t second = 0;  // the drop-off comes before this position of the route as it was
  [[nodiscard]] bool fits() const { return added != kNowhere; }
  bool operator==(const Insertion&) const = default;
};

/// A stop of a route, with what an insertion beside it must know.
struct Stop {
  std::int32_t node = 0;
  std::int32_t load = 0;  // ride: on board after it; deliver: needed by the route up to here
  Seconds leave = 0;      // the earliest end of service
  Seconds latest = 0;     // the latest start of service that keeps the rest in time
};

/// The routes of all vehicles, made for search: a request goes in or out in time linear in its
/// route, a series of changes can be undone. Memory is kept from problem to problem. One thread at
/// a time, const calls included.
///
///     routes.load(instance, plan);
///     if (const Insertion at = routes.cheapest(request); at.fits()) { routes.insert(request, at);
///     }
class RouteSet {
 public:
  /// All vehicles at the depot. The instance must outlive the use of it here.
  void clear(const Instance& instance);
  /// The plan must be feasible.
  void load(const Instance& instance, const Plan& plan);
  /// One route per vehicle; reuses the plan's memory.
  void store(Plan& plan) const;

  [[nodiscard]] const Instance& instance() const { return *instance_; }
  [[nodiscard]] Cost cost() const { return cost_; }
  [[nodiscard]] std::int32_t num_vehicles() const { return num_vehicles_; }
  /// The vehicle that serves a request, or -1.
  [[nodiscard]] std::int32_t vehicle_of(std::int32_t request) const { return vehicle_of_[request]; }
  /// A route between its two visits of the depot, which are stops too.
  [[nodiscard]] std::span<const Stop> stops(std::int32_t vehicle) const {
    return routes_[vehicle].stops;
  }
  /// Whether it stays at the depot, which then costs nothing.
  [[nodiscard]] bool is_empty(std::int32_t vehicle) const { return stops(vehicle).size() == 2; }

  /// The cheapest place of a request that is not served; ties go to the first place in order of
  /// vehicle, first, second.
  [[nodiscard]] Insertion cheapest(std::int32_t request) const;
  /// The same, or nowhere unless it adds less than `below`.
  [[nodiscard]] Insertion cheapest_below(std::int32_t request, Cost below) const;
  /// The same, were its windows these.
  [[nodiscard]] Insertion cheapest(std::int32_t request, const RequestWindows& windows) const;
  /// The same, where skip() says before each place whether to pass it over.
  template <class Skip>
  [[nodiscard]] Insertion cheapest(std::int32_t request, const RequestWindows& windows, Skip& skip,
                                   Cost below = Insertion::kNowhere) const;

  /// At a place that cheapest() gave for the routes as they are; nothing checks it.
  void insert(std::int32_t request, const Insertion& at);
  /// Where the request was; insert() there puts it back. Without the triangle inequality the route
  /// may come out late: see is_feasible().
  Insertion remove(std::int32_t request);
  /// The same for many at once: each route is gone over once.
  void remove_all(std::span<const std::int32_t> requests);
  /// Sends the vehicle of an empty route home for good; the last vehicle gets its number. Forgets
  /// mark().
  void drop_vehicle(std::int32_t vehicle);
  /// Whether a vehicle's route keeps its windows and ride times.
  [[nodiscard]] bool is_feasible(std::int32_t vehicle) const;

  /// From here on, rollback() undoes every change.
  void mark();
  /// Back to the last mark(), which then holds for what follows.
  void rollback();
  /// The vehicles whose routes changed since mark().
  [[nodiscard]] std::span<const std::int32_t> changed() const { return changed_; }

  [[nodiscard]] RequestWindows windows_of(std::int32_t request) const;

 private:
  struct Route {
    std::vector<Stop> stops;
    bool saved = false;  // since mark()
  };
  struct Visit {
    std::int32_t node;
    std::int32_t load;
    Seconds service;
    Window window;
  };
  template <class Skip>
  void price_stop(std::int32_t vehicle, const Visit& visit, Skip& skip, Insertion& best) const;
  template <class Skip>
  void price_ride(std::int32_t vehicle, const Visit& pickup, const Visit& drop, Skip& skip,
                  Insertion& best) const;
  template <class Skip>
  void price_drop(std::int32_t vehicle, const Visit& pickup, const Visit& drop, std::int32_t first,
                  Seconds leave, Skip& skip, Insertion& best) const;
  [[nodiscard]] Visit visit(std::int32_t node, Window window) const;
  [[nodiscard]] bool rides_hold(std::int32_t vehicle, const Visit& pickup, const Visit& drop,
                                const Insertion& at) const;
  [[nodiscard]] bool rides_hold() const;  // of the sequence in sequence_
  void append(const Visit& visit) const;
  void save(std::int32_t vehicle);
  void close_gaps(std::int32_t vehicle);
  void forward(std::vector<Stop>& stops, std::size_t from) const;
  void backward(std::vector<Stop>& stops, std::size_t from) const;
  [[nodiscard]] std::size_t at(std::int32_t from, std::int32_t to) const {
    return from * stride_ + to;
  }

  const Instance* instance_ = nullptr;
  std::size_t stride_ = 0;
  std::int32_t num_vehicles_ = 0;
  std::vector<Route> routes_;             // at least num_vehicles_: memory is kept
  std::vector<std::vector<Stop>> saved_;  // as they were at mark()
  std::vector<std::int32_t> changed_;     // vehicles with a route in saved_
  std::vector<std::int32_t> vehicle_of_;  // [requests]
  std::vector<std::int32_t> touched_;     // by remove_all()
  Cost cost_ = 0;
  Cost saved_cost_ = 0;
  bool marked_ = false;
  // Room for the test of ride times: a whole candidate route.
  mutable std::vector<Visit> sequence_;
  mutable std::vector<Seconds> start_;
};

}  // namespace penstock::booking
