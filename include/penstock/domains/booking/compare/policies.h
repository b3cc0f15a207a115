#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "penstock/core/base/random.h"
#include "penstock/domains/booking/env/answers.h"
#include "penstock/domains/booking/env/booking.h"

namespace penstock::booking {

/// What a policy may look at when a request waits for an offer. Only some policies may see the true
/// type: they are bounds, not competitors.
struct OfferContext {
  const Booking& booking;
  const BookingRules& rules;
  Flexibility type = Flexibility::rigid;  // of the customer who calls
  const Belief& belief;                   // the exact posterior of what this customer answered
};

/// Chooses offers. One object per thread.
class OfferPolicy {
 public:
  virtual ~OfferPolicy() = default;
  /// A day begins; random policies draw from `seed` alone.
  virtual void begin_day(std::uint64_t /*seed*/) {}
  /// An offer, 0 to 15. The context lives for the call only.
  virtual std::int32_t choose(const OfferContext& context) = 0;
};

/// null: (0, 0). random: any offer. random-masked: any that the true type allows. max: the largest
/// that the true type allows. myopic, myopic-known, myopic-bayes: the least expected price of this
/// step, where the customer is assumed to take everything, what the true type takes, or what the
/// posterior says; with ":relocate" behind the name, prices count moves of other requests too.
/// Throws UsageError that names these.
std::unique_ptr<OfferPolicy> make_offer_policy(const std::string& name);
/// The names above, without what may stand behind them. Static memory.
const std::vector<std::string>& offer_policy_names();

}  // namespace penstock::booking
