#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/domains/booking/neural/task.h"

namespace penstock::booking {

// Shapes: N tokens.

/// Numbers that describe a step of a construction, and each token that may come next.
inline constexpr std::size_t kContextFeatures = 8;
inline constexpr std::size_t kChoiceFeatures = 9;

/// A plan made stop by stop, vehicle after vehicle. Whatever is allowed keeps every promise made so
/// far: a stop is reached in time with room for its load, those on board can still be put down in
/// some order, within the longest ride, and the vehicle gets home. Token 0 sends the vehicle home,
/// when it has served something and is empty, and another is left. A vehicle leaves every stop as
/// early as it can.
/// The search for an order of drop-offs has a budget: with more than four on board a stop may be
/// refused though it would fit. Memory is kept from task to task.
class Construction {
 public:
  /// The task must outlive the construction.
  void begin(const Task& task);

  [[nodiscard]] bool done() const { return remaining_ == 0; }
  /// Not done, and nothing is allowed: a dead end.
  [[nodiscard]] bool stuck() const { return remaining_ > 0 && num_allowed_ == 0; }
  [[nodiscard]] std::int32_t here() const { return here_; }
  /// [N] Stops that are not served, and the depot.
  [[nodiscard]] std::span<const std::uint8_t> open() const { return open_; }
  /// [N] What may come next.
  [[nodiscard]] std::span<const std::uint8_t> allowed() const { return allowed_; }
  /// `choices` is by feature: [kChoiceFeatures, stride], of which N are written.
  void describe(std::span<float> context, float* choices, std::size_t stride) const;

  /// An allowed token.
  void take(std::int32_t token);

  /// The stops so far, in the instance's numbers; one route per vehicle.
  void store(Plan& plan) const;
  /// The tokens taken so far.
  [[nodiscard]] std::span<const std::int32_t> taken() const { return taken_; }

 private:
  struct Visit {
    Seconds start = 0;  // of the service
    Seconds leave = 0;
  };
  void look();
  [[nodiscard]] bool allows_home() const;
  [[nodiscard]] bool allows_stop(std::int32_t token);
  [[nodiscard]] bool allows_ride(std::int32_t token, const Visit& visit);
  [[nodiscard]] bool can_finish(std::int32_t from, Seconds leave, std::size_t put_down);
  [[nodiscard]] Visit visit(std::int32_t token) const;
  [[nodiscard]] Seconds ride_limit(Seconds leave) const;
  [[nodiscard]] Seconds deadline(std::int32_t token) const;
  [[nodiscard]] Seconds slack_on_board(std::int32_t token, Seconds leave) const;

  const Task* task_ = nullptr;
  std::int32_t here_ = 0;
  std::int32_t vehicle_ = 0;
  std::int32_t load_ = 0;
  std::int32_t remaining_ = 0;  // stops
  std::int32_t num_allowed_ = 0;
  Seconds clock_ = 0;
  std::vector<std::uint8_t> open_;
  std::vector<std::uint8_t> allowed_;
  std::vector<Seconds> deadline_;       // [N] of a drop-off whose passenger is on board
  std::vector<std::int32_t> on_board_;  // drop-offs
  std::vector<std::int32_t> taken_;
  std::vector<std::int32_t> left_;  // room for can_finish()
  std::int32_t search_budget_ = 0;  // drop-offs that can_finish() may still look at
};

}  // namespace penstock::booking
