#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "domains/booking/demand/fit_parts.h"
#include "penstock/core/base/random.h"

namespace penstock::booking::demand {
namespace {

/// Who answered what: a named customer, or somebody who answered once.
struct Household {
  std::vector<std::size_t> answers;
};

std::vector<Household> households_of(std::span<const std::int32_t> customers) {
  std::vector<Household> named;
  std::vector<Household> others;
  for (std::size_t i = 0; i < customers.size(); ++i) {
    if (customers[i] < 0) {
      others.push_back({{i}});
      continue;
    }
    const std::size_t number = customers[i];
    if (named.size() <= number) { named.resize(number + 1); }
    named[number].answers.push_back(i);
  }
  std::erase_if(named, [](const Household& one) { return one.answers.empty(); });
  named.insert(named.end(), others.begin(), others.end());
  return named;
}

/// The chance that each household has each taste, and from it the tastes, in turns.
class TasteClimb {
 public:
  TasteClimb(std::span<const Answer> answers, std::span<const Household> households,
             const Fit& start, std::size_t tastes, std::uint64_t seed)
      : answers_(answers), households_(households) {
    Random random({.seed = seed, .owner = static_cast<std::uint32_t>(tastes)});
    constexpr double kSpread = 0.7;
    found_.shares.assign(tastes, 1.0 / static_cast<double>(tastes));
    found_.fits.assign(tastes, start);
    for (Fit& fit : found_.fits) {
      for (std::size_t t = 0; t < kFee; ++t) {
        if (fit.known[t]) { fit.worth[t] += kSpread * random.normal(); }
      }
    }
    weights_.assign(tastes, std::vector<double>(answers.size(), 0));
  }

  TasteFit run() {
    constexpr int kMostTurns = 40;
    constexpr double kCloseEnough = 1e-2;  // of a log likelihood
    double before = -1e300;
    for (int turn = 0; turn < kMostTurns; ++turn) {
      expect();
      if (found_.log_likelihood - before < kCloseEnough) { break; }
      before = found_.log_likelihood;
      for (std::size_t k = 0; k < found_.fits.size(); ++k) {
        climb_on(answers_, weights_[k], found_.fits[k]);
      }
    }
    return found_;
  }

 private:
  /// Bayes' rule for each household; the shares are what that comes to.
  void expect() {
    const std::size_t tastes = found_.fits.size();
    std::vector<double> shares(tastes, 0);
    found_.log_likelihood = 0;
    for (const Household& household : households_) {
      std::vector<double> chance(tastes);
      for (std::size_t k = 0; k < tastes; ++k) {
        chance[k] = std::log(found_.shares[k]);
        for (const std::size_t i : household.answers) {
          chance[k] += log_chance(answers_[i], found_.fits[k].worth);
        }
      }
      const double most = *std::max_element(chance.begin(), chance.end());
      double sum = 0;
      for (double& one : chance) { sum += (one = std::exp(one - most)); }
      found_.log_likelihood += most + std::log(sum);
      for (std::size_t k = 0; k < tastes; ++k) {
        shares[k] += chance[k] / sum / static_cast<double>(households_.size());
        for (const std::size_t i : household.answers) { weights_[k][i] = chance[k] / sum; }
      }
    }
    constexpr double kLeastShare = 1e-3;  // a taste of nobody would not come back
    for (std::size_t k = 0; k < tastes; ++k) {
      found_.shares[k] = std::max(shares[k], kLeastShare);
    }
  }

  std::span<const Answer> answers_;
  std::span<const Household> households_;
  TasteFit found_;
  std::vector<std::vector<double>> weights_;  // [tastes, answers]
};

/// Smaller is better.
double criterion(const TasteFit& fit, std::size_t households) {
  const auto known = std::count(fit.fits[0].known.begin(), fit.fits[0].known.end(), true);
  const double tastes = fit.fits.size();
  const double numbers = tastes * static_cast<double>(known) + tastes - 1;
  return numbers * std::log(static_cast<double>(households)) - 2 * fit.log_likelihood;
}

}  // namespace

TasteFit fit_tastes(std::span<const Answer> answers, std::span<const std::int32_t> customers,
                    std::size_t most) {
  constexpr std::uint64_t kRestarts = 2;
  const std::vector<Household> households = households_of(customers);
  const Fit one = fit_answers(answers);
  TasteFit best{.fits = {one}, .shares = {1}, .log_likelihood = one.log_likelihood};
  // Who answered once says nothing about what goes together.
  if (answers.size() < 2 * households.size()) { return best; }
  // One more only where the last one was worth it.
  for (std::size_t tastes = 2; tastes <= most && best.fits.size() + 1 == tastes; ++tastes) {
    for (std::uint64_t seed = 0; seed < kRestarts; ++seed) {
      TasteFit found = TasteClimb(answers, households, one, tastes, seed).run();
      if (criterion(found, households.size()) < criterion(best, households.size())) {
        best = std::move(found);
      }
    }
  }
  return best;
}

Tastes TasteFit::tastes() const {
  Tastes told;
  told.knows_fees = std::all_of(fits.begin(), fits.end(), [](const Fit& fit) {
    return fit.known[kFee] && fit.worth[kFee] < 0;
  });
  for (std::size_t k = 0; k < fits.size(); ++k) {
    Taste& taste = told.list.emplace_back(
        Taste{.name = fits.size() == 1 ? "everybody" : fmt::format("taste {}", k + 1),
              .share = shares[k],
              .worth = fits[k].worth});
    if (!told.knows_fees) { taste.worth[kFee] = 0; }
  }
  return told;
}

}  // namespace penstock::booking::demand
