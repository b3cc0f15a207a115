#pragma once
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "domains/booking/dispatch/insertion.h"
#include "domains/booking/dispatch/ruin.h"
#include "penstock/core/base/random.h"
#include "penstock/domains/booking/routing/budget.h"

namespace penstock::booking::dispatch {

/// Routes of all vehicles, and who serves each task.
struct Routing {
  std::vector<Route> routes;             // [vehicles]
  std::vector<std::int32_t> vehicle_of;  // [tasks]; -1: nobody
};

/// An annealed chain of plans: each round takes strings out and puts their tasks back greedily, now
/// and then blind to the best place. Tasks that fit nowhere are absent; each absence makes a task
/// dearer to leave out, so that the difficult ones find a place first.
class Search {
 public:
  /// The problem must live on. With `tables` all ways are computed at once, which pays off for long
  /// searches.
  Search(const Problem& problem, Routing start, std::uint64_t seed, bool tables);

  /// Serves as many of the absent tasks as fit, without moving others.
  void construct();
  /// Who is absent stays so; who is served will be.
  void keep_to_served();
  /// From `hot` to `cold`, in mean cost of a stop.
  void anneal(Budget& budget, double hot, double cold);

  /// The best so far.
  [[nodiscard]] const Routing& best() const { return best_; }

 private:
  struct Rank {
    std::int64_t priority = 0;  // of all absent
    std::size_t absent = 0;
    Money cost = 0;
    bool operator<(const Rank& other) const {
      return std::tie(priority, absent, cost) < std::tie(other.priority, other.absent, other.cost);
    }
  };

  void sort_into_kinds();
  void fill_tables();
  bool ruin(const StringSizes& sizes);
  void round(double temperature);
  void recreate();
  bool put_back(std::int32_t task);
  void touch(std::int32_t vehicle);
  void roll_back();
  void accept();
  void order();
  [[nodiscard]] double order_key(std::uint32_t rule, std::int32_t task);
  [[nodiscard]] std::int64_t weight(const std::vector<std::int32_t>& tasks) const;
  [[nodiscard]] Rank rank() const;
  void keep_best();
  [[nodiscard]] double cost_per_stop() const;

  const Problem& problem_;
  Routing now_;
  Routing best_;
  Rank best_rank_;
  Money cost_ = 0;  // of `now_`
  Ruin ruin_;
  Places places_;
  Random random_;
  std::uint32_t until_blink_ = 100;
  std::vector<std::int32_t> kind_;          // [vehicles]; vehicles of a kind are alike
  std::vector<LegTable> tables_;            // [kinds of driving]
  std::vector<const LegTable*> table_of_;   // [vehicles], none without tables
  std::vector<std::int32_t> seen_empty_;    // [kinds], the task that has tried an empty one
  std::vector<Route> saved_;                // [vehicles], as they were before the round
  std::vector<std::int32_t> touched_;       // vehicles
  std::vector<std::int64_t> absences_;      // [tasks]
  std::vector<std::int32_t> absent_;        // from the plan as it is
  std::vector<std::int32_t> still_absent_;  // from the plan that is tried
  std::vector<std::int32_t> removed_;       // in the order they are put back
  std::vector<std::pair<double, std::int32_t>> sorted_;
};

}  // namespace penstock::booking::dispatch
