#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/domains/booking/demand/taste.h"

namespace penstock::booking::demand {

/// What somebody was shown, and said.
struct Answer {
  std::vector<SlotTime> slots;
  std::vector<double> fees;          // [slots]
  std::int32_t taken = kNoPurchase;  // a slot's number
};

/// A taste as answers tell it.
struct Fit {
  Traits worth{};
  /// Of traits whose worth the answers can tell; the others have worth 0: they never differ, or
  /// others say the same.
  std::array<bool, kNumTraits> known{};
  std::array<Traits, kNumTraits> covariance{};  // by the inverse of the information
  double log_likelihood = 0;
  std::int64_t answers = 0;
  /// False when worths grow without end: everybody answers alike. A weak prior holds them then.
  bool converged = true;
};

/// The multinomial logit of highest likelihood, by Newton's method. `weights` of the answers: all 1
/// when there are none.
Fit fit_answers(std::span<const Answer> answers, std::span<const double> weights = {});

/// Half the width of a worth's 95 % interval.
double half_width(const Fit& fit, std::size_t trait);

/// Worths that might be the true ones, drawn by the covariance with standard normal numbers.
Traits drawn_worth(const Fit& fit, const Traits& normals);

/// Several tastes, as answers of customers tell them who answered more than once.
struct TasteFit {
  std::vector<Fit> fits;
  std::vector<double> shares;  // [fits]
  double log_likelihood = 0;

  /// Fees count where they are disliked by all.
  [[nodiscard]] Tastes tastes() const;
};

/// One to `most` tastes, as many as the answers are worth by the Bayesian information criterion:
/// expectation maximisation over who has which. `customers` [answers] tells who answered, by
/// numbers from 0; -1: somebody who is not named.
TasteFit fit_tastes(std::span<const Answer> answers, std::span<const std::int32_t> customers,
                    std::size_t most);

}  // namespace penstock::booking::demand
