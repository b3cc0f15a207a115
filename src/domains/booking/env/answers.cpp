#include "penstock/domains/booking/env/answers.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "penstock/core/base/check.h"
#include "penstock/core/base/errors.h"

namespace penstock::booking {
namespace {

// The utilities of the logit model: of agreeing at all, and of ten minutes asked for.
constexpr double kGoodwill = 3.0;
constexpr double kAllowedStep = -0.3;
constexpr double kForbiddenStep = -4.0;

// ln 0 of an answer that a type cannot give. Finite, so that answers which no type can give leave a
// belief: the type with the fewest of them.
constexpr double kImpossible = -1e6;

bool allows_earlier(Flexibility type) {
  return type == Flexibility::earlier || type == Flexibility::both;
}
bool allows_later(Flexibility type) {
  return type == Flexibility::later || type == Flexibility::both;
}

double logit_acceptance(Flexibility type, std::size_t offer) {
  constexpr double kStep = 600;
  const OfferedTime time = offered_time(offer);
  const double earlier = time.earlier / kStep;
  const double later = time.later / kStep;
  const double utility = kGoodwill +
                         earlier * (allows_earlier(type) ? kAllowedStep : kForbiddenStep) +
                         later * (allows_later(type) ? kAllowedStep : kForbiddenStep);
  return 1 / (1 + std::exp(-utility));
}

double safe_log(double p) { return p > 0 ? std::log(p) : kImpossible; }

}  // namespace

bool allows(Flexibility type, std::size_t offer) {
  const OfferedTime time = offered_time(offer);
  return (time.earlier == 0 || allows_earlier(type)) && (time.later == 0 || allows_later(type));
}

void compute_masks_from_flexibility(std::span<const Flexibility> types, std::span<bool> masks) {
  PENSTOCK_CHECK(masks.size(), ==, types.size() * kNumOffers);
  static const auto kRows = [] {
    std::array<std::array<bool, kNumOffers>, kNumTypes> rows{};
    for (std::size_t type = 0; type < kNumTypes; ++type) {
      for (std::size_t offer = 0; offer < kNumOffers; ++offer) {
        rows[type][offer] = allows(static_cast<Flexibility>(type), offer);
      }
    }
    return rows;
  }();
  auto row = masks.begin();
  for (const Flexibility type : types) {
    row = std::ranges::copy(kRows[static_cast<std::size_t>(type)], row).out;
  }
}

AnswerModel::AnswerModel(std::string_view name, double eta) {
  const std::vector<std::string> names = {"rule", "noisy", "logit"};
  if (std::ranges::find(names, name) == names.end()) {
    throw UsageError("answer model '" + std::string(name) + "': not one of rule, noisy, logit" +
                     did_you_mean(name, names));
  }
  for (std::size_t t = 0; t < kNumTypes; ++t) {
    const auto type = static_cast<Flexibility>(t);
    for (std::size_t offer = 0; offer < kNumOffers; ++offer) {
      const double noise = name == "noisy" ? eta : 0;
      table_[t][offer] = name == "logit"       ? logit_acceptance(type, offer)
                         : allows(type, offer) ? 1 - noise
                                               : noise;
    }
    table_[t][kNoChange] = 1;
  }
}

double AnswerModel::acceptance(std::span<const double, kNumTypes> belief, std::size_t offer) const {
  double sum = 0;
  for (std::size_t type = 0; type < kNumTypes; ++type) {
    sum += belief[type] * table_[type][offer];
  }
  return sum;
}

BayesFilter::BayesFilter(const AnswerModel& model) {
  for (std::size_t offer = 0; offer < kNumOffers; ++offer) {
    for (std::size_t type = 0; type < kNumTypes; ++type) {
      const double taken = model.acceptance(type, offer);
      log_table_[offer][0][type] = safe_log(1 - taken);
      log_table_[offer][1][type] = safe_log(taken);
    }
  }
}

Belief BayesFilter::log_likelihood(const AnswerCounts& counts) const {
  Belief sum{};
  for (std::size_t offer = 0; offer < kNumOffers; ++offer) {
    for (std::size_t answer = 0; answer < 2; ++answer) {
      const double count = counts[offer][answer];
      for (std::size_t type = 0; type < kNumTypes; ++type) {
        sum[type] += count * log_table_[offer][answer][type];
      }
    }
  }
  return sum;
}

Belief BayesFilter::posterior(const Belief& log_likelihood) {
  const double top = std::ranges::max(log_likelihood);
  Belief belief{};
  double sum = 0;
  for (std::size_t type = 0; type < kNumTypes; ++type) {
    belief[type] = std::exp(log_likelihood[type] - top);
    sum += belief[type];
  }
  for (double& p : belief) { p /= sum; }
  return belief;
}

Flexibility likeliest(const Belief& belief) {
  return static_cast<Flexibility>(std::ranges::max_element(belief) - belief.begin());
}

void compute_mask_from_belief(const Belief& belief, std::span<bool, kNumOffers> mask) {
  const double top = std::ranges::max(belief);
  std::ranges::fill(mask, false);
  for (std::size_t type = 0; type < kNumTypes; ++type) {
    for (std::size_t offer = 0; offer < kNumOffers && belief[type] == top; ++offer) {
      mask[offer] = mask[offer] || allows(static_cast<Flexibility>(type), offer);
    }
  }
}

}  // namespace penstock::booking
