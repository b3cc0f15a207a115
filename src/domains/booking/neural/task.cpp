#include "penstock/domains/booking/neural/task.h"

#include <algorithm>

namespace penstock::booking {

void Task::load(const Instance& instance, std::span<const std::int32_t> requests) {
  instance_ = &instance;
  node_.assign(1, 0);
  for (const std::int32_t request : requests) {
    const std::int32_t first = instance.first_node(request);
    for (std::int32_t k = 0; k < instance.stops_per_request(); ++k) { node_.push_back(first + k); }
  }
  stops_.clear();
  duration_.clear();
  distance_.clear();
  std::int64_t seconds = 0;
  std::int64_t metres = 0;
  for (const std::int32_t from : node_) {
    stops_.push_back(instance.nodes[from]);
    for (const std::int32_t to : node_) {
      duration_.push_back(instance.duration_of(from, to));
      distance_.push_back(instance.distance_of(from, to));
      seconds += duration_.back();
      metres += distance_.back();
    }
  }
  seconds_per_metre_ =
      metres > 0 ? static_cast<float>(static_cast<double>(seconds) / metres) : 1.0F;
  origin_ = stops_.size() > 1 ? stops_[1].window.earliest : stops_[0].window.earliest;
  for (std::size_t i = 1; i < stops_.size(); ++i) {
    origin_ = std::min(origin_, stops_[i].window.earliest);
  }
}

}  // namespace penstock::booking
