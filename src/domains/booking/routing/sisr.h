#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "domains/booking/routing/string_removal.h"
#include "penstock/core/base/random.h"
#include "penstock/domains/booking/routing/budget.h"
#include "penstock/domains/booking/routing/route_set.h"

namespace penstock::booking {

/// One annealed chain of plans: each round takes strings out and puts their requests back greedily,
/// now and then blind to the best place. Requests that fit nowhere are absent; each absence makes
/// the request dearer to leave out, so that the difficult ones settle first.
class Chain {
 public:
  Chain(const Instance& instance, std::uint64_t seed);

  /// Takes vehicles away, one at a time, as long as all requests can be served.
  void reduce_fleet(Budget& budget);
  /// Lowers the cost; from `hot` to `cold`, in mean cost per stop.
  void anneal(Budget& budget, double hot, double cold);

  /// The best plan so far: with the fewest requests unserved, then the cheapest.
  [[nodiscard]] const Plan& best() const { return best_; }
  [[nodiscard]] Cost best_cost() const { return best_cost_; }
  [[nodiscard]] std::int32_t unserved() const { return unserved_; }

 private:
  void send_spares_home();
  bool ruin(const StringSizes& sizes);
  void shorten(double temperature);
  void serve_more(double temperature);
  void recreate();
  bool put_back(std::int32_t request);
  void accept();
  void order();
  [[nodiscard]] Cost order_key(std::uint32_t rule, std::int32_t request);
  [[nodiscard]] double most_accepted(double temperature);
  [[nodiscard]] std::int64_t weight(const std::vector<std::int32_t>& absent) const;
  void keep_best();
  void restore_best(std::int32_t vehicles);
  [[nodiscard]] std::int32_t easiest_route() const;
  [[nodiscard]] std::int32_t least_vehicles() const;
  void disband(std::int32_t vehicle);
  [[nodiscard]] double cost_per_stop() const;

  const Instance& instance_;
  RouteSet routes_;
  StringRemoval strings_;
  Random random_;
  std::uint32_t until_blink_ = 0;           // places that are looked at before one is passed over
  std::vector<std::int64_t> absences_;      // [requests]
  std::vector<std::int32_t> absent_;        // from the plan as it is
  std::vector<std::int32_t> still_absent_;  // from the plan that is tried
  std::vector<std::int32_t> removed_;       // in the order they are put back
  std::vector<std::pair<Cost, std::int32_t>> sorted_;  // room for order()
  Plan best_;
  Cost best_cost_ = 0;
  std::int32_t unserved_ = 0;
};

}  // namespace penstock::booking
