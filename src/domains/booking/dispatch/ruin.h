#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "domains/booking/dispatch/parts.h"
#include "penstock/domains/booking/routing/string_draw.h"

namespace penstock::booking::dispatch {

/// Chooses what a round takes out: strings of stops of neighbouring routes, near a task drawn.
class Ruin {
 public:
  explicit Ruin(const Problem& problem)
      : problem_(problem),
        near_(problem.tasks.size()),
        taken_(problem.tasks.size(), 0),
        ruined_(problem.vehicles.size(), 0) {}

  /// Tasks to take out of the routes; none when nothing may move.
  void pick(std::span<const Route> routes, std::span<const std::int32_t> vehicle_of,
            const StringSizes& sizes, Random& random, std::vector<std::int32_t>& removed);

 private:
  const std::vector<std::int32_t>& near(std::int32_t task);
  [[nodiscard]] double closeness(const Task& a, const Task& b) const;
  void take_string(const Route& route, std::int32_t task, double max_length, Random& random,
                   std::vector<std::int32_t>& removed);
  void take(const Route& route, std::size_t visit, std::vector<std::int32_t>& removed);

  const Problem& problem_;
  std::vector<std::vector<std::int32_t>> near_;  // [tasks], nearest first; made when asked for
  std::vector<char> taken_;                      // [tasks]
  std::vector<char> ruined_;                     // [vehicles]
};

}  // namespace penstock::booking::dispatch
