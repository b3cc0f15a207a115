#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking {

// Shapes: N tokens.

/// The requests of an instance that a network plans, numbered anew: token 0 is the depot, then come
/// the stops of the requests in the order given, as in an instance of their own. Memory is kept
/// from task to task.
/// Nothing checks that a token is below num_tokens(). Const calls may come from several threads.
class Task {
 public:
  /// The instance must outlive the use of the task.
  void load(const Instance& instance, std::span<const std::int32_t> requests);

  [[nodiscard]] const Instance& instance() const { return *instance_; }
  [[nodiscard]] std::int32_t num_tokens() const { return node_.size(); }
  [[nodiscard]] std::int32_t num_requests() const {
    return (num_tokens() - 1) / instance_->stops_per_request();
  }
  [[nodiscard]] bool rides() const { return instance_->mode == Mode::ride; }  // else deliveries
  [[nodiscard]] std::int32_t node_of(std::int32_t token) const {
    return node_[static_cast<std::size_t>(token)];
  }
  [[nodiscard]] const Node& stop(std::int32_t token) const {
    return stops_[static_cast<std::size_t>(token)];
  }
  [[nodiscard]] Seconds duration(std::int32_t from, std::int32_t to) const {
    return duration_[at(from, to)];
  }
  [[nodiscard]] Metres distance(std::int32_t from, std::int32_t to) const {
    return distance_[at(from, to)];
  }
  /// A pickup's drop-off, a drop-off's pickup; of rides.
  [[nodiscard]] static std::int32_t partner(std::int32_t token) {
    return is_pickup(token) ? token + 1 : token - 1;
  }
  [[nodiscard]] static bool is_pickup(std::int32_t token) { return token % 2 == 1; }

  // What makes features comparable between instances.
  [[nodiscard]] float seconds_per_metre() const { return seconds_per_metre_; }  // on average
  [[nodiscard]] Seconds origin() const { return origin_; }  // the first window's beginning

 private:
  [[nodiscard]] std::size_t at(std::int32_t from, std::int32_t to) const {
    return from * node_.size() + to;
  }

  const Instance* instance_ = nullptr;
  std::vector<std::int32_t> node_;  // [N], of the instance
  std::vector<Node> stops_;         // [N]
  std::vector<Seconds> duration_;   // [N, N]
  std::vector<Metres> distance_;    // [N, N]
  float seconds_per_metre_ = 1;
  Seconds origin_ = 0;
};

}  // namespace penstock::booking
