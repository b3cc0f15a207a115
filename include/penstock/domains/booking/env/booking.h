#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/core/base/archive.h"
#include "penstock/core/base/random.h"
#include "penstock/domains/booking/env/answers.h"
#include "penstock/domains/booking/routing/generators.h"
#include "penstock/domains/booking/routing/oracle.h"

namespace penstock::booking {

/// The rules of booking. Everything that is paid is whole metres, or seconds where the days' costs
/// are.
struct BookingRules {
  OfferKind offer = OfferKind::widen;
  AnswerModel answers;
  Cost per_minute = 20;    // for every minute that a customer gives
  Cost rejection = 0;      // for every offer that is refused
  Cost unserved = 50'000;  // for every request that fits nowhere
  double walk_away = 0;    // probability that a customer who refuses leaves
  Cost lost = 50'000;  // for every customer who leaves, beside `rejection`; not below `unserved`
  CostUnit unit = CostUnit::metres;  // of the above, and of the days' costs
};

/// The result of a day.
struct DayTally {
  std::int32_t requests = 0;
  std::int32_t unserved = 0;  // fitted nowhere
  std::int32_t left = 0;      // refused and went away
  std::int32_t asked = 0;     // offers that ask for minutes
  std::int32_t taken = 0;     // of these
  std::int32_t minutes = 0;   // given

  template <class Archive>
  void state(Archive& archive) {
    archive(requests, unserved, left, asked, taken, minutes);
  }
};

/// One day of one env: requests arrive one at a time; an offer is made and answered, a window is
/// promised, and the routes are planned anew. Allocates nothing after its first day.
///
///     booking.begin(generator, seed);
///     while (!booking.over()) { /* offer(), solve problem() unless the customer left, finish() */
///     }
///
/// One thread at a time.
class Booking {
 public:
  /// Starts a day; customers call in an order drawn for the day.
  void begin(const Generator& generator, std::uint64_t seed);

  [[nodiscard]] const Instance& instance() const { return instance_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] Cost cost() const { return cost_; }  // of the plan
  [[nodiscard]] const DayTally& tally() const { return tally_; }
  /// The requests that the plan serves, in the order of their promises.
  [[nodiscard]] std::span<const std::int32_t> served() const { return served_; }
  [[nodiscard]] bool over() const { return request_ == instance_.num_requests(); }
  /// The request that waits for an offer, and its customer. Must not be called when the day is
  /// over.
  [[nodiscard]] std::int32_t request() const { return request_; }
  [[nodiscard]] std::size_t customer() const { return callers_[request_]; }

  /// The answer to an offer.
  struct Answer {
    bool taken = false;
    bool stays = true;  // the customer stays, and is to be planned for
  };
  /// Makes the offer; the windows agreed on are then a promise.
  /// Two random numbers are drawn whatever is offered, so that days under other offers stay
  /// comparable.
  Answer offer(std::int32_t action, Flexibility type, const BookingRules& rules);
  /// What the oracle is asked, when the customer stays.
  /// Points into the booking, which must stay where it is until finish().
  RoutingProblem problem();
  /// Ends the step and returns its reward: cost before - cost after - what was paid.
  /// `solved` is null when the customer left, which costs `rules.lost` too.
  Cost finish(const RoutingProblem* solved, const BookingRules& rules);

  template <class Archive>
  void state(Archive& archive) {
    archive(seed_, request_, cost_, tally_, answers_, agreed_, served_, plan_.routes);
  }
  /// After loading: makes the day again and puts the promises into it. Throws DataError when the
  /// plan is not one of this day.
  void restore(const Generator& generator, OfferKind kind);

 private:
  void make_day(const Generator& generator);

  std::uint64_t seed_ = 0;
  std::int32_t request_ = 0;
  Cost cost_ = 0;
  Cost paid_ = 0;  // in the step in progress
  DayTally tally_;
  Random answers_;
  std::vector<std::int8_t> agreed_;  // [requests so far] the offer that stands
  std::vector<std::int32_t> served_;
  Plan plan_;
  Instance instance_;                 // of the seed, with the promised windows
  std::vector<std::size_t> callers_;  // [requests], of the seed
};

}  // namespace penstock::booking
