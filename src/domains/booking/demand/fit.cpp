#include "penstock/domains/booking/demand/fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "domains/booking/demand/fit_parts.h"

namespace penstock::booking::demand {
namespace {

using Square = std::array<Traits, kNumTraits>;

constexpr double kWeakPrior = 0.01;  // precision, where the likelihood alone has no maximum

Traits traits_with_fee(const Answer& answer, std::size_t slot) {
  Traits traits = traits_of(answer.slots[slot]);
  traits[kFee] = answer.fees[slot];
  return traits;
}

double dot(const Traits& a, const Traits& b) {
  double sum = 0;
  for (std::size_t i = 0; i < kNumTraits; ++i) { sum += a[i] * b[i]; }
  return sum;
}

/// The log likelihood of a worth, its gradient and its information.
struct Slope {
  double value = 0;
  Traits gradient{};
  Square information{};
};

/// What one answer adds.
void add_answer(const Answer& answer, double weight, const Traits& worth, Slope& slope) {
  const std::size_t count = answer.slots.size();
  std::array<Traits, kMaxSlots> traits{};
  std::array<double, kMaxSlots> chance{};
  double most = 0;
  for (std::size_t s = 0; s < count; ++s) {
    traits[s] = traits_with_fee(answer, s);
    chance[s] = dot(traits[s], worth);
    most = std::max(most, chance[s]);
  }
  double sum = std::exp(-most);
  const double chosen = answer.taken == kNoPurchase ? 0 : chance[answer.taken];
  for (std::size_t s = 0; s < count; ++s) { sum += (chance[s] = std::exp(chance[s] - most)); }
  slope.value += weight * (chosen - most - std::log(sum));
  Traits mean{};
  for (std::size_t s = 0; s < count; ++s) {
    chance[s] /= sum;
    for (std::size_t i = 0; i < kNumTraits; ++i) { mean[i] += chance[s] * traits[s][i]; }
  }
  for (std::size_t i = 0; i < kNumTraits; ++i) {
    const double taken = answer.taken == kNoPurchase ? 0 : traits[answer.taken][i];
    slope.gradient[i] += weight * (taken - mean[i]);
    for (std::size_t j = 0; j <= i; ++j) {  // the rest is the same
      double second = -mean[i] * mean[j];
      for (std::size_t s = 0; s < count; ++s) { second += chance[s] * traits[s][i] * traits[s][j]; }
      slope.information[i][j] += weight * second;
    }
  }
}

/// A symmetric system of equations in the known traits only: the factor L of L L' = matrix.
class Factor {
 public:
  Factor(const Square& matrix, const std::array<bool, kNumTraits>& known) : known_(known) {
    for (std::size_t i = 0; i < kNumTraits; ++i) {
      if (!known[i]) { continue; }
      for (std::size_t j = 0; j <= i; ++j) {
        if (known[j]) { fill(matrix, i, j); }
      }
    }
  }

  [[nodiscard]] Traits solve(Traits right) const {
    for (std::size_t i = 0; i < kNumTraits; ++i) {
      if (!known_[i]) {
        right[i] = 0;
        continue;
      }
      for (std::size_t j = 0; j < i; ++j) { right[i] -= lower_[i][j] * right[j]; }
      right[i] /= lower_[i][i];
    }
    for (std::size_t i = kNumTraits; i-- > 0;) {
      if (!known_[i]) { continue; }
      for (std::size_t j = i + 1; j < kNumTraits; ++j) { right[i] -= lower_[j][i] * right[j]; }
      right[i] /= lower_[i][i];
    }
    return right;
  }

  [[nodiscard]] Square inverse() const {
    Square columns{};
    for (std::size_t i = 0; i < kNumTraits; ++i) {
      if (!known_[i]) { continue; }
      Traits unit{};
      unit[i] = 1;
      columns[i] = solve(unit);
    }
    return columns;
  }

  [[nodiscard]] const Square& lower() const { return lower_; }

 private:
  void fill(const Square& matrix, std::size_t i, std::size_t j) {
    constexpr double kLeast = 1e-300;
    double rest = matrix[i][j];
    for (std::size_t k = 0; k < j; ++k) { rest -= lower_[i][k] * lower_[j][k]; }
    lower_[i][j] = i == j ? std::sqrt(std::max(rest, kLeast)) : rest / lower_[j][j];
  }

  std::array<bool, kNumTraits> known_;
  Square lower_{};
};

/// Traits that are no sum of those before them, over all slots that were shown.
std::array<bool, kNumTraits> known_traits(std::span<const Answer> answers) {
  Square products{};
  for (const Answer& answer : answers) {
    for (std::size_t s = 0; s < answer.slots.size(); ++s) {
      const Traits traits = traits_with_fee(answer, s);
      for (std::size_t i = 0; i < kNumTraits; ++i) {
        for (std::size_t j = 0; j < kNumTraits; ++j) { products[i][j] += traits[i] * traits[j]; }
      }
    }
  }
  constexpr double kSame = 1e-9;
  std::array<bool, kNumTraits> known{};
  for (std::size_t i = 0; i < kNumTraits; ++i) {
    known[i] = true;
    const double rest = Factor(products, known).lower()[i][i];
    known[i] = products[i][i] > 0 && rest * rest > kSame * products[i][i];
  }
  return known;
}

Slope slope_at(std::span<const Answer> answers, std::span<const double> weights,
               const Traits& worth, double prior) {
  Slope slope;
  for (std::size_t a = 0; a < answers.size(); ++a) {
    add_answer(answers[a], weights.empty() ? 1 : weights[a], worth, slope);
  }
  for (std::size_t i = 0; i < kNumTraits; ++i) {
    slope.value -= prior * worth[i] * worth[i] / 2;
    slope.gradient[i] -= prior * worth[i];
    slope.information[i][i] += prior;
  }
  return slope;
}

/// Newton's steps from the fit's worths, each halved until it gains.
void climb(std::span<const Answer> answers, std::span<const double> weights, double prior,
           int most_steps, Fit& fit) {
  constexpr double kClose = 1e-10;
  constexpr double kFarOut = 12;  // chances of 1 in 160,000: nobody has seen that many answers
  Slope slope = slope_at(answers, weights, fit.worth, prior);
  fit.converged = false;
  for (int i = 0; i < most_steps && !fit.converged; ++i) {
    Traits step = Factor(slope.information, fit.known).solve(slope.gradient);
    const double gain = dot(step, slope.gradient);
    Slope next;
    for (double size = 1; size > kClose; size /= 2) {
      Traits there = fit.worth;
      for (std::size_t t = 0; t < kNumTraits; ++t) { there[t] += size * step[t]; }
      next = slope_at(answers, weights, there, prior);
      if (next.value >= slope.value || gain < kClose) {
        fit.worth = there;
        break;
      }
    }
    slope = next;
    fit.converged = gain < kClose;
  }
  for (std::size_t t = 0; t < kFee; ++t) {
    fit.converged = fit.converged && std::abs(fit.worth[t]) < kFarOut;
  }
  fit.log_likelihood = slope.value;
  fit.covariance = Factor(slope.information, fit.known).inverse();
}

Fit unfitted(std::span<const Answer> answers) {
  return {.known = known_traits(answers), .answers = static_cast<std::int64_t>(answers.size())};
}

}  // namespace

Fit fit_answers(std::span<const Answer> answers, std::span<const double> weights) {
  constexpr int kMostSteps = 60;
  const Fit start = unfitted(answers);
  Fit fit = start;
  climb(answers, weights, 0, kMostSteps, fit);
  if (fit.converged) { return fit; }
  fit = start;
  climb(answers, weights, kWeakPrior, kMostSteps, fit);
  fit.converged = false;
  return fit;
}

void climb_on(std::span<const Answer> answers, std::span<const double> weights, Fit& fit) {
  constexpr int kFewSteps = 1;
  climb(answers, weights, kWeakPrior, kFewSteps, fit);
}

double log_chance(const Answer& answer, const Traits& worth) {
  double sum = 1;
  double chosen = 0;
  for (std::size_t s = 0; s < answer.slots.size(); ++s) {
    const double utility = dot(traits_with_fee(answer, s), worth);
    sum += std::exp(utility);
    if (answer.taken == static_cast<std::int32_t>(s)) { chosen = utility; }
  }
  return chosen - std::log(sum);
}

double half_width(const Fit& fit, std::size_t trait) {
  constexpr double kNormal = 1.959964;
  return kNormal * std::sqrt(fit.covariance[trait][trait]);
}

Traits drawn_worth(const Fit& fit, const Traits& normals) {
  const Square root = Factor(fit.covariance, fit.known).lower();
  Traits worth = fit.worth;
  for (std::size_t i = 0; i < kNumTraits; ++i) {
    for (std::size_t j = 0; fit.known[i] && j <= i; ++j) { worth[i] += root[i][j] * normals[j]; }
  }
  return worth;
}

}  // namespace penstock::booking::demand
