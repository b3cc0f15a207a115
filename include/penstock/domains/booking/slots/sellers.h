#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/core/act/policy_model.h"
#include "penstock/domains/booking/slots/day.h"

namespace penstock::booking {

/// What a caller is shown.
struct SlotOffer {
  std::array<Cents, kMaxSlots> fees{};
  std::array<bool, kMaxSlots> withheld{};  // beside the slots that do not fit
  // What the seller takes a sale to cost, in money; nothing where it does not ask.
  bool has_costs = false;
  std::array<double, kMaxSlots> costs{};
};

/// Sells slots. One object per thread.
class SlotSeller {
 public:
  virtual ~SlotSeller() = default;
  /// An offer for the call that waits. Must not look at what is hidden, nor at calls to come; only
  /// `hindsight` does.
  virtual SlotOffer offer(SlotDay& day) = 0;
};

/// Fees by the closed form of the multinomial logit (best_fees()) on the segments merged by
/// `belief`, where a sale in slot s costs costs[s], in money: rounded to the fees that are charged.
SlotOffer priced_offer(SlotDay& day, const SegmentBelief& belief, std::span<const double> costs);

/// The same for whoever is known by one segment, and brings `revenue` beside the fee.
SlotOffer priced_offer(const ChoiceSegment& caller, double revenue, const FeeRule& rule,
                       std::span<const double> costs);

/// What each slot costs by insertion, in money; kWithheld where it does not fit. [slots]
std::array<double, kMaxSlots> insertion_costs(SlotDay& day);

/// The same before it is known who else will call: what a sale costs on the whole, 2 / beta, turns
/// into what its insertion costs as the horizon passes.
std::array<double, kMaxSlots> blended_costs(SlotDay& day);
/// Of one slot, when this share of the horizon has passed.
double blended_cost(double insertion, double passed, double beta);

/// Sellers by name; docs/booking/benchmark.md tells what each does. Throws UsageError that names
/// them.
std::unique_ptr<SlotSeller> make_slot_seller(const std::string& name);
/// Throws UsageError for a policy of another env than `slots`.
void require_slots_policy(const PolicyModel& model);
/// The most likely levels of a policy of the env `slots`. Throws UsageError for another's.
std::unique_ptr<SlotSeller> make_trained_seller(const std::shared_ptr<const PolicyModel>& model);
/// Static memory.
const std::vector<std::string>& slot_seller_names();

}  // namespace penstock::booking
