#include "penstock/domains/booking/env/booking.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/shuffle.h"
#include "penstock/domains/booking/routing/checker.h"

namespace penstock::booking {
namespace {

// Places of their own in the day's randomness, which is the generator's.
constexpr std::uint32_t kCallersOwner = 0x63616c6c;
constexpr std::uint32_t kAnswersOwner = 0x616e7377;
constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;  // spreads the steps of a day over all seeds

[[noreturn]] void refuse(const std::string& why) {
  throw DataError("env state: " + why + "; the config must be the run's own");
}

}  // namespace

void Booking::make_day(const Generator& generator) {
  generator.make(seed_, instance_);
  callers_.resize(instance_.num_requests());
  std::iota(callers_.begin(), callers_.end(), std::size_t{0});
  Random random({.seed = seed_, .owner = kCallersOwner});
  shuffle(callers_, random);
}

void Booking::begin(const Generator& generator, std::uint64_t seed) {
  seed_ = seed;
  make_day(generator);
  answers_ = Random({.seed = seed, .owner = kAnswersOwner});
  request_ = 0;
  cost_ = paid_ = 0;
  tally_ = {};
  agreed_.clear();
  served_.clear();
  agreed_.reserve(callers_.size());
  served_.reserve(callers_.size());
  plan_.routes.resize(instance_.vehicles);
  for (auto& route : plan_.routes) {
    route.clear();
    route.reserve(instance_.num_nodes());
  }
}

Booking::Answer Booking::offer(std::int32_t action, Flexibility type, const BookingRules& rules) {
  // Two draws whatever is offered, so that days with other offers remain comparable.
  const bool taken = rules.answers.answer(type, action, answers_);
  const bool leaves = answers_.uniform() < rules.walk_away && !taken;
  paid_ = 0;
  ++tally_.requests;
  if (action != kNoChange) {
    ++tally_.asked;
    if (taken) {
      ++tally_.taken;
      tally_.minutes += offered_minutes(action);
      paid_ = rules.per_minute * offered_minutes(action);
      promise(instance_, request_, offered_windows(instance_, request_, rules.offer, action));
    } else {
      paid_ = rules.rejection;
    }
  }
  agreed_.push_back(taken ? action : kNoChange);
  if (leaves) { ++tally_.left; }
  return {.taken = taken, .stays = !leaves};
}

RoutingProblem Booking::problem() {
  return {.instance = &instance_,
          .served = served_,
          .request = request_,
          .seed = seed_ + kOdd * (request_ + 1),
          .plan = &plan_};
}

Cost Booking::finish(const RoutingProblem* solved, const BookingRules& rules) {
  Cost reward = -paid_;
  if (solved != nullptr && solved->fits) {
    reward += cost_ - solved->cost;
    cost_ = solved->cost;
    served_.push_back(request_);
  } else if (solved != nullptr) {
    reward -= rules.unserved;
    ++tally_.unserved;
  } else {
    // The driving is saved: unless a loss costs more, the best policy sends everybody away.
    reward -= rules.lost;
  }
  ++request_;
  return reward;
}

void Booking::restore(const Generator& generator, OfferKind kind) {
  make_day(generator);
  const std::int32_t num_requests = instance_.num_requests();
  if (request_ < 0 || request_ > num_requests || std::cmp_not_equal(agreed_.size(), request_)) {
    refuse("the day has another number of requests");
  }
  for (std::int32_t r = 0; r < request_; ++r) {
    const std::int8_t action = agreed_[r];
    if (action < 0 || action >= kOffers) { refuse("unknown offer"); }
    promise(instance_, r, offered_windows(instance_, r, kind, action));
  }
  const auto known = [&](std::int32_t r) { return r >= 0 && r < request_; };
  if (!std::ranges::all_of(served_, known)) { refuse("unknown request"); }
  if (const auto violation = find_violation(instance_, plan_, served_)) { refuse(*violation); }
  if (cost_ != cost_of(instance_, plan_)) { refuse("the plan has another cost"); }
  plan_.routes.resize(instance_.vehicles);
  for (auto& route : plan_.routes) { route.reserve(instance_.num_nodes()); }
  agreed_.reserve(callers_.size());
  served_.reserve(callers_.size());
}

}  // namespace penstock::booking
