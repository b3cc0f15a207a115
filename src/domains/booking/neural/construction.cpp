#include "penstock/domains/booking/neural/construction.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "domains/booking/neural/units.h"

namespace penstock::booking {
namespace {

// Orders of drop-offs that are tried before a stop is refused. Four on board have 24; with many
// more the refusal is on the safe side.
constexpr std::int32_t kSearchBudget = 500;
constexpr Seconds kNone = std::numeric_limits<Seconds>::max();

}  // namespace

void Construction::begin(const Task& task) {
  task_ = &task;
  const std::size_t count = task.num_tokens();
  open_.assign(count, 1);
  allowed_.assign(count, 0);
  deadline_.assign(count, 0);
  on_board_.clear();
  taken_.clear();
  here_ = vehicle_ = load_ = 0;
  remaining_ = task.num_tokens() - 1;
  clock_ = task.stop(0).window.earliest;
  look();
}

void Construction::look() {
  num_allowed_ = 0;
  if (remaining_ == 0) {
    std::ranges::fill(allowed_, std::uint8_t{0});
    return;
  }
  allowed_[0] = allows_home() ? 1 : 0;
  num_allowed_ += allowed_[0];
  for (std::int32_t token = 1; token < task_->num_tokens(); ++token) {
    auto& allowed = allowed_[token];
    allowed = allows_stop(token) ? 1 : 0;
    num_allowed_ += allowed;
  }
}

bool Construction::allows_home() const {
  return here_ != 0 && on_board_.empty() && vehicle_ + 1 < task_->instance().vehicles;
}

Construction::Visit Construction::visit(std::int32_t token) const {
  const Node& stop = task_->stop(token);
  const Seconds start = std::max(clock_ + task_->duration(here_, token), stop.window.earliest);
  return {.start = start, .leave = start + stop.service};
}

Seconds Construction::deadline(std::int32_t token) const {
  const Seconds latest = task_->stop(token).window.latest;
  const Seconds ride = deadline_[token];
  return ride > 0 ? std::min(latest, ride) : latest;
}

bool Construction::allows_stop(std::int32_t token) {
  if (open_[token] == 0) { return false; }
  if (task_->rides() && !Task::is_pickup(token) &&
      std::ranges::find(on_board_, token) == on_board_.end()) {
    return false;
  }
  const Visit at = visit(token);
  if (at.start > deadline(token)) { return false; }
  const Node& stop = task_->stop(token);
  if (load_ + stop.load > task_->instance().capacity) { return false; }
  if (task_->rides()) { return allows_ride(token, at); }
  return at.leave + task_->duration(token, 0) <= task_->stop(0).window.latest;
}

/// Whether all who are then on board can be put down in time, and the vehicle gets home.
bool Construction::allows_ride(std::int32_t token, const Visit& at) {
  left_.assign(on_board_.begin(), on_board_.end());
  search_budget_ = kSearchBudget;
  if (!Task::is_pickup(token)) {
    left_.erase(std::ranges::find(left_, token));
    return can_finish(token, at.leave, 0);
  }
  const std::int32_t drop = Task::partner(token);
  left_.push_back(drop);
  Seconds& limit = deadline_[drop];  // for this question only
  limit = ride_limit(at.leave);
  const bool finishes = can_finish(token, at.leave, 0);
  limit = 0;
  return finishes;
}

/// When a passenger who is picked up now must be put down, or 0.
Seconds Construction::ride_limit(Seconds leave) const {
  const Seconds most = task_->instance().max_ride;
  return most > 0 ? leave + most : 0;
}

/// Tries the orders of left_[put_down ...], depth first.
bool Construction::can_finish(std::int32_t from, Seconds leave, std::size_t put_down) {
  if (put_down == left_.size()) {
    return leave + task_->duration(from, 0) <= task_->stop(0).window.latest;
  }
  for (std::size_t i = put_down; i < left_.size(); ++i) {
    const std::int32_t drop = left_[i];
    if (--search_budget_ < 0 || leave + task_->duration(from, drop) > deadline(drop)) {
      return false;
    }
  }
  for (std::size_t i = put_down; i < left_.size(); ++i) {
    const std::int32_t drop = left_[i];
    const Node& stop = task_->stop(drop);
    const Seconds start = std::max(leave + task_->duration(from, drop), stop.window.earliest);
    if (start > deadline(drop)) { continue; }
    std::swap(left_[put_down], left_[i]);
    const bool finishes = can_finish(drop, start + stop.service, put_down + 1);
    std::swap(left_[put_down], left_[i]);
    if (finishes) { return true; }
  }
  return false;
}

void Construction::take(std::int32_t token) {
  taken_.push_back(token);
  if (token == 0) {
    here_ = load_ = 0;
    ++vehicle_;
    clock_ = task_->stop(0).window.earliest;
    look();
    return;
  }
  const Visit at = visit(token);
  if (task_->rides()) {
    if (Task::is_pickup(token)) {
      const std::int32_t drop = Task::partner(token);
      on_board_.push_back(drop);
      deadline_[drop] = ride_limit(at.leave);
    } else {
      on_board_.erase(std::ranges::find(on_board_, token));
    }
  }
  open_[token] = 0;
  load_ += task_->stop(token).load;
  clock_ = at.leave;
  here_ = token;
  --remaining_;
  look();
}

void Construction::store(Plan& plan) const {
  plan.routes.resize(task_->instance().vehicles);
  for (auto& route : plan.routes) { route.clear(); }
  std::size_t vehicle = 0;
  for (const std::int32_t token : taken_) {
    if (token == 0) {
      ++vehicle;
    } else {
      plan.routes[vehicle].push_back(task_->node_of(token));
    }
  }
}

/// The least time that is left for anyone on board, were they put down right after this stop.
Seconds Construction::slack_on_board(std::int32_t token, Seconds leave) const {
  Seconds least = kNone;
  for (const std::int32_t drop : on_board_) {
    if (drop == token) { continue; }
    least = std::min(least, deadline(drop) - leave - task_->duration(token, drop));
  }
  return least;
}

void Construction::describe(std::span<float> context, float* choices, std::size_t stride) const {
  const Instance& instance = task_->instance();
  const float left = instance.vehicles - vehicle_;
  const auto requests = static_cast<float>(remaining_) / instance.stops_per_request();
  const float capacity = std::max(1, instance.capacity);
  context[0] = here_ == 0 ? 0.0F : (clock_ - task_->origin()) / kFourHours;
  context[1] = load_ / capacity;
  context[2] = std::min(left / 5, 4.0F);
  context[3] = std::min(requests / 20, 4.0F);
  context[4] = here_ == 0 ? 1.0F : 0.0F;
  context[5] = std::min(requests / left / 8, 4.0F);
  context[6] = std::min(on_board_.size() / 4.0F, 4.0F);
  context[7] = vehicle_ + 1 == instance.vehicles ? 1.0F : 0.0F;
  const float scale = task_->seconds_per_metre() / kQuarter;
  for (std::int32_t token = 0; token < task_->num_tokens(); ++token) {
    float* out = choices + token;
    const Visit at = visit(token);
    const Seconds drive = task_->duration(here_, token);
    const Seconds on_board = slack_on_board(token, at.leave);
    const bool aboard =
        task_->rides() && token > 0 && !Task::is_pickup(token) && open_[Task::partner(token)] == 0;
    const Metres detour =
        task_->distance(here_, token) + task_->distance(token, 0) - task_->distance(here_, 0);
    out[0] = quarters(drive, 0, 8);
    out[stride] = token == 0 ? 0.0F : quarters(at.start - clock_ - drive, 0, 16) / 4;
    out[2 * stride] = quarters(deadline(token) - at.start, -8, 16) / 4;
    out[3 * stride] = aboard ? 1.0F : 0.0F;
    out[4 * stride] = allowed_[token];
    out[5 * stride] = std::min(task_->distance(here_, token) * scale, 8.0F);
    out[6 * stride] = on_board == kNone ? 2.0F : quarters(on_board, -8, 16) / 4;
    out[7 * stride] = token == 0 ? 1.0F : 0.0F;
    out[8 * stride] = std::clamp(detour * scale, -8.0F, 8.0F);
  }
}

}  // namespace penstock::booking
