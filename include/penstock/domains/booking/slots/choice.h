#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace penstock::booking {

// Shapes: S slots on offer, K segments of customers.

/// The most slots that are sold side by side, over all days.
constexpr std::size_t kMaxSlots = 16;
/// The most segments of a choice model.
constexpr std::size_t kMaxSegments = 8;
/// As a fee: the slot is not offered.
constexpr double kWithheld = std::numeric_limits<double>::infinity();
/// As a choice: nothing was bought.
constexpr std::int32_t kNoPurchase = -1;

/// Customers who like the same slots. To buy nothing has utility 0.
struct ChoiceSegment {
  double share = 1;                         // of the customers; shares need not add up to 1
  double beta = 1;                          // what a unit of money takes from a utility; above 0
  std::array<double, kMaxSlots> utility{};  // [S] at no fee
};

/// A number per segment: its chance.
using SegmentBelief = std::array<double, kMaxSegments>;

/// Choice by multinomial logit with no purchase: segment k takes slot s with the chance
/// exp(u_ks - beta_k fee_s) / (1 + the sum of the same over the slots on offer).
/// A plain value; const calls may run side by side. Fees are in money; kWithheld leaves a slot out.
///
///     ChoiceModel model(2, {{.beta = 0.5, .utility = {1, 0}}});
///     SegmentBelief belief = model.prior();
///     model.chances(belief, fees, chances);        // the rest of 1 is no purchase
///     model.update(belief, fees, 1);                // the customer took slot 1
class ChoiceModel {
 public:
  ChoiceModel() = default;
  /// Throws UsageError for too many slots or segments, none of them, a beta that is not above 0,
  /// or shares without a sum.
  ChoiceModel(std::size_t num_slots, std::span<const ChoiceSegment> segments);
  ChoiceModel(std::size_t num_slots, const std::vector<ChoiceSegment>& segments)
      : ChoiceModel(num_slots, std::span<const ChoiceSegment>(segments)) {}

  [[nodiscard]] std::size_t num_slots() const { return num_slots_; }
  [[nodiscard]] std::size_t num_segments() const { return num_segments_; }
  [[nodiscard]] const ChoiceSegment& segment(std::size_t k) const { return segments_[k]; }
  [[nodiscard]] double utility(std::size_t segment, std::size_t slot, double fee) const {
    return segments_[segment].utility[slot] - segments_[segment].beta * fee;
  }
  /// The shares, with a sum of 1.
  [[nodiscard]] SegmentBelief prior() const;

  /// The chance of each slot: of one segment, or of a customer believed to be of several.
  void chances(std::size_t segment, std::span<const double> fees, std::span<double> into) const;
  void chances(const SegmentBelief& belief, std::span<const double> fees,
               std::span<double> into) const;
  /// ln of the chance of what was chosen, a slot or kNoPurchase; minus infinity for a slot that was
  /// withheld.
  [[nodiscard]] double log_likelihood(std::size_t segment, std::span<const double> fees,
                                      std::int32_t choice) const;
  [[nodiscard]] double log_likelihood(const SegmentBelief& belief, std::span<const double> fees,
                                      std::int32_t choice) const;
  /// The posterior after a choice, by Bayes' rule. A belief that rules the choice out stays.
  void update(SegmentBelief& belief, std::span<const double> fees, std::int32_t choice) const;

  /// The choice that belongs to a draw of Gumbel noise, [S + 1], the last of no purchase: draws
  /// that are the same for two sellers make their days comparable, call by call.
  [[nodiscard]] std::int32_t choose(std::size_t segment, std::span<const double> fees,
                                    std::span<const double> gumbel) const;

  /// One segment in the place of all: mean beta, and for each slot the logarithm of the mean of
  /// exp(utility). What closed forms are applied to.
  [[nodiscard]] ChoiceSegment merged(const SegmentBelief& belief) const;

 private:
  std::size_t num_slots_ = 0;
  std::size_t num_segments_ = 0;
  std::array<ChoiceSegment, kMaxSegments> segments_{};
};

/// Lambert's W of exp(y): the w with w + ln w = y. Any y that is not NaN.
double lambert_w_of_exp(double y);

/// The margin per sale (price less cost, the same for every slot) that earns one segment the most:
/// (1 + W(A / e)) / beta, where A is the sum over slots of exp(utility - beta cost).
double best_margin(double log_attraction, double beta);

/// The fees that earn the most from one segment: fee_s = cost_s - revenue + best_margin(), where a
/// sale brings `revenue` beside the fee and costs cost_s. A cost of kWithheld leaves a slot out.
void best_fees(const ChoiceSegment& segment, double revenue, std::span<const double> costs,
               std::span<double> fees);

/// How much the four flexibility types of env/answers.h dislike a slot off the hour that they wish.
struct SlotTaste {
  double base = 1;              // utility of the wished hour at no fee
  double beta = 0.25;           // per unit of money
  double per_rigid_hour = 1;    // lost per hour in a direction that the type does not like
  double per_free_hour = 0.15;  // and in one that it does
  double per_day = 0.7;         // lost per day after the first
};

/// A slot of a day, in hours from the day's midnight.
struct SlotTime {
  std::int32_t day = 0;
  double from = 0;
  double to = 0;
};

/// The choice model of a caller who wishes an hour: a segment per flexibility type (later,
/// earlier, rigid, both), all equally likely. Hours off the wish count from the nearer end of the
/// slot.
ChoiceModel model_of_wish(double hour, std::span<const SlotTime> slots, const SlotTaste& taste);

}  // namespace penstock::booking
