#include "penstock/domains/booking/slots/choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/env/answers.h"

namespace penstock::booking {
namespace {

void require_model(std::size_t num_slots, std::span<const ChoiceSegment> segments) {
  if (num_slots == 0 || num_slots > kMaxSlots) {
    throw UsageError(
        fmt::format("a choice model of {} slots: allowed are 1 to {}", num_slots, kMaxSlots));
  }
  if (segments.empty() || segments.size() > kMaxSegments) {
    throw UsageError(fmt::format("a choice model of {} segments: allowed are 1 to {}",
                                 segments.size(), kMaxSegments));
  }
  double sum = 0;
  for (const ChoiceSegment& segment : segments) {
    if (!(segment.beta > 0) || !(segment.share >= 0)) {
      throw UsageError(
          fmt::format("a segment with share {} and beta {}: the share must not be negative, beta "
                      "must be above 0",
                      segment.share, segment.beta));
    }
    sum += segment.share;
  }
  if (!(sum > 0)) { throw UsageError("a choice model whose shares are all 0: give one above 0"); }
}

/// ln(1 + sum of exp(utility - beta fee)), without overflow.
double log_denominator(const ChoiceModel& model, std::size_t segment,
                       std::span<const double> fees) {
  double most = 0;
  for (std::size_t s = 0; s < model.num_slots(); ++s) {
    most = std::max(most, model.utility(segment, s, fees[s]));
  }
  double sum = std::exp(-most);
  for (std::size_t s = 0; s < model.num_slots(); ++s) {
    sum += std::exp(model.utility(segment, s, fees[s]) - most);
  }
  return most + std::log(sum);
}

/// Hours from a wish to the nearer end of a slot: below 0 where the slot is earlier.
double hours_off(double hour, const SlotTime& slot) {
  if (hour < slot.from) { return slot.from - hour; }
  return hour >= slot.to ? slot.to - hour : 0;
}

}  // namespace

ChoiceModel::ChoiceModel(std::size_t num_slots, std::span<const ChoiceSegment> segments)
    : num_slots_(num_slots), num_segments_(segments.size()) {
  require_model(num_slots, segments);
  std::ranges::copy(segments, segments_.begin());
}

SegmentBelief ChoiceModel::prior() const {
  double sum = 0;
  for (std::size_t k = 0; k < num_segments_; ++k) { sum += segments_[k].share; }
  SegmentBelief belief{};
  for (std::size_t k = 0; k < num_segments_; ++k) { belief[k] = segments_[k].share / sum; }
  return belief;
}

void ChoiceModel::chances(std::size_t segment, std::span<const double> fees,
                          std::span<double> into) const {
  const double log_sum = log_denominator(*this, segment, fees);
  for (std::size_t s = 0; s < num_slots_; ++s) {
    into[s] = std::exp(utility(segment, s, fees[s]) - log_sum);
  }
}

void ChoiceModel::chances(const SegmentBelief& belief, std::span<const double> fees,
                          std::span<double> into) const {
  std::fill_n(into.begin(), num_slots_, 0.0);
  std::array<double, kMaxSlots> one{};
  for (std::size_t k = 0; k < num_segments_; ++k) {
    chances(k, fees, one);
    for (std::size_t s = 0; s < num_slots_; ++s) { into[s] += belief[k] * one[s]; }
  }
}

double ChoiceModel::log_likelihood(std::size_t segment, std::span<const double> fees,
                                   std::int32_t choice) const {
  const double chosen = choice == kNoPurchase ? 0 : utility(segment, choice, fees[choice]);
  return chosen - log_denominator(*this, segment, fees);
}

double ChoiceModel::log_likelihood(const SegmentBelief& belief, std::span<const double> fees,
                                   std::int32_t choice) const {
  double chance = 0;
  for (std::size_t k = 0; k < num_segments_; ++k) {
    chance += belief[k] * std::exp(log_likelihood(k, fees, choice));
  }
  return std::log(chance);
}

void ChoiceModel::update(SegmentBelief& belief, std::span<const double> fees,
                         std::int32_t choice) const {
  SegmentBelief next{};
  double sum = 0;
  for (std::size_t k = 0; k < num_segments_; ++k) {
    next[k] = belief[k] * std::exp(log_likelihood(k, fees, choice));
    sum += next[k];
  }
  if (!(sum > 0)) { return; }
  for (std::size_t k = 0; k < num_segments_; ++k) { belief[k] = next[k] / sum; }
}

std::int32_t ChoiceModel::choose(std::size_t segment, std::span<const double> fees,
                                 std::span<const double> gumbel) const {
  std::int32_t best = kNoPurchase;
  double most = gumbel[num_slots_];
  for (std::size_t s = 0; s < num_slots_; ++s) {
    const double worth = utility(segment, s, fees[s]) + gumbel[s];
    if (worth > most) {
      most = worth;
      best = s;
    }
  }
  return best;
}

ChoiceSegment ChoiceModel::merged(const SegmentBelief& belief) const {
  ChoiceSegment one{.share = 1, .beta = 0};
  for (std::size_t k = 0; k < num_segments_; ++k) { one.beta += belief[k] * segments_[k].beta; }
  for (std::size_t s = 0; s < num_slots_; ++s) {
    double sum = 0;
    for (std::size_t k = 0; k < num_segments_; ++k) {
      sum += belief[k] * std::exp(segments_[k].utility[s]);
    }
    one.utility[s] = std::log(sum);
  }
  return one;
}

// Newton's steps on f(w) = w + ln w - y from a start of the right size: below y = 1 from exp(y),
// where w is about exp(y); above from y - ln y. Both converge in a handful of steps.
double lambert_w_of_exp(double y) {
  constexpr int kMostSteps = 20;
  constexpr double kClose = 1e-14;
  double w = y < 1 ? std::exp(y) : y - std::log(y);
  if (w == 0) { return 0; }
  for (int i = 0; i < kMostSteps; ++i) {
    const double step = w * (y - w - std::log(w)) / (1 + w);
    w = std::max(w + step, w / 2);  // a step below 0 would leave the logarithm's domain
    if (std::abs(step) <= kClose * w) { break; }
  }
  return w;
}

double best_margin(double log_attraction, double beta) {
  return (1 + lambert_w_of_exp(log_attraction - 1)) / beta;
}

void best_fees(const ChoiceSegment& segment, double revenue, std::span<const double> costs,
               std::span<double> fees) {
  double most = -std::numeric_limits<double>::infinity();
  const auto worth = [&](std::size_t s) {
    return segment.utility[s] - segment.beta * (costs[s] - revenue);
  };
  for (std::size_t s = 0; s < costs.size(); ++s) { most = std::max(most, worth(s)); }
  double sum = 0;
  for (std::size_t s = 0; s < costs.size(); ++s) {
    fees[s] = costs[s];
    if (costs[s] != kWithheld) { sum += std::exp(worth(s) - most); }
  }
  if (sum == 0) { return; }  // nothing is on offer
  const double margin = best_margin(most + std::log(sum), segment.beta);
  for (std::size_t s = 0; s < costs.size(); ++s) { fees[s] += margin - revenue; }
}

ChoiceModel model_of_wish(double hour, std::span<const SlotTime> slots, const SlotTaste& taste) {
  std::array<ChoiceSegment, kNumTypes> segments{};
  for (std::size_t type = 0; type < kNumTypes; ++type) {
    const auto kind = static_cast<Flexibility>(type);
    const bool earlier = kind == Flexibility::earlier || kind == Flexibility::both;
    const bool later = kind == Flexibility::later || kind == Flexibility::both;
    segments[type].beta = taste.beta;
    for (std::size_t s = 0; s < slots.size(); ++s) {
      const double off = hours_off(hour, slots[s]);
      const bool free = off < 0 ? earlier : later;
      segments[type].utility[s] =
          taste.base - taste.per_day * slots[s].day -
          std::abs(off) * (free ? taste.per_free_hour : taste.per_rigid_hour);
    }
  }
  return {slots.size(), std::span<const ChoiceSegment>(segments)};
}

}  // namespace penstock::booking
