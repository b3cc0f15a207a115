#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "penstock/core/base/random.h"
#include "penstock/domains/booking/env/offers.h"

namespace penstock::booking {

constexpr std::size_t kNumOffers = kOffers;

/// The flexibility of a customer; hidden from whoever makes offers.
enum class Flexibility : std::uint8_t { later, earlier, rigid, both };
constexpr std::size_t kNumTypes = 4;

/// Whether an offer asks nothing of a customer that the type does not allow.
/// To change nothing asks nothing.
bool allows(Flexibility type, std::size_t offer);

/// Which offers each customer's type allows, all customers in one call: types [C], masks [C, 16].
void compute_masks_from_flexibility(std::span<const Flexibility> types, std::span<bool> masks);

/// How likely each type takes each offer. To change nothing is always taken.
class AnswerModel {
 public:
  /// rule: taken iff the type allows it. noisy: the rule's answer, inverted with probability
  /// eta. logit: the more minutes an offer asks for the less likely, and far less where the type
  /// does not allow them. Throws UsageError that names these.
  explicit AnswerModel(std::string_view name, double eta = 0.05);
  AnswerModel() : AnswerModel("rule") {}

  /// The chance in [0, 1] that a type, or a customer believed to be so, takes the offer.
  [[nodiscard]] double acceptance(std::size_t type, std::size_t offer) const {
    return table_[type][offer];
  }
  [[nodiscard]] double acceptance(std::span<const double, kNumTypes> belief,
                                  std::size_t offer) const;
  /// Whether it is taken with a chance of 1/2 or more.
  [[nodiscard]] bool likely(std::span<const double, kNumTypes> belief, std::size_t offer) const {
    constexpr double kLikely = 0.5;
    return acceptance(belief, offer) >= kLikely;
  }
  /// One draw, whatever the type and the offer.
  [[nodiscard]] bool answer(Flexibility type, std::size_t offer, Random& random) const {
    return random.uniform() < acceptance(static_cast<std::size_t>(type), offer);
  }

 private:
  std::array<std::array<double, kNumOffers>, kNumTypes> table_{};
};

/// How often each offer was refused [0] and taken [1] by one customer: all that is known of the
/// answers.
using AnswerCounts = std::array<std::array<std::uint32_t, 2>, kNumOffers>;
/// A number per type: its chance, or a sum of logarithms where that is said.
using Belief = std::array<double, kNumTypes>;

/// The exact posterior over types after any number of answers, with all types equally likely
/// before.
class BayesFilter {
 public:
  explicit BayesFilter(const AnswerModel& model);

  /// Sums over answers of ln P(answer | type): may be added up.
  [[nodiscard]] Belief log_likelihood(const AnswerCounts& counts) const;
  [[nodiscard]] static Belief posterior(const Belief& log_likelihood);
  [[nodiscard]] Belief posterior(const AnswerCounts& counts) const {
    return posterior(log_likelihood(counts));
  }

 private:
  // [offer][refused, taken][type]
  std::array<std::array<Belief, 2>, kNumOffers> log_table_{};
};

/// The likeliest type; ties go to the first.
Flexibility likeliest(const Belief& belief);

/// The offers that the likeliest type allows; of several that are equally likely, those that any of
/// them allows. So a belief that knows nothing forbids nothing.
void compute_mask_from_belief(const Belief& belief, std::span<bool, kNumOffers> mask);

}  // namespace penstock::booking
