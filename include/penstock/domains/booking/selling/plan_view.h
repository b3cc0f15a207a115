#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/domains/booking/dispatch/schedule.h"
#include "penstock/domains/booking/selling/forecast.h"
#include "penstock/domains/booking/slots/tokens.h"

namespace penstock::booking::selling {

/// What a plan says of slots for a request that waits. A copy: the plan may change meanwhile.
struct PlanView {
  std::int32_t day = 0;         // after the first that is on sale to the caller
  std::vector<SlotView> slots;  // [windows]
  double vehicles = 0;
  double used = 0;   // vehicles
  double depot = 0;  // the nearest start of a vehicle, share of the side
  std::int32_t sold = 0;
  Cents cost = 0;
};

/// `quotes` [windows] are what Schedule::quote() tells of the plan as it is. What is booked belongs
/// to the slots in which the middle of its promised window is.
PlanView view_of(const dispatch::Schedule& plan, const dispatch::Request& request,
                 std::span<const dispatch::TimeWindow> windows,
                 std::span<const dispatch::Quote> quotes, bool of_delivery,
                 const Forecast& forecast);

/// A slot of one of the plans.
struct SlotPlace {
  std::size_t plan = 0;
  std::size_t slot = 0;
};

/// Who calls, and when.
struct Caller {
  const ChoiceModel& model;  // of the slots in question
  const SegmentBelief& belief;
  double revenue = 0;      // in units of cost
  double hours_ahead = 0;  // until the first of the days begins; below 0 when it has begun
  bool ride = false;       // a shipment, not a job
};

/// What a network of the env `slots` is told: at most kMaxSlots slots of one or several plans.
SlotState state_of(const Caller& caller, std::span<const PlanView> plans,
                   std::span<const SlotPlace> slots, const Forecast& forecast);

}  // namespace penstock::booking::selling
