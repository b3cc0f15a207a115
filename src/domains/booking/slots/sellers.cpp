#include "penstock/domains/booking/slots/sellers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "domains/booking/slots/future.h"
#include "domains/booking/slots/programme.h"
#include "penstock/core/act/actor.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/slots/tokens.h"

namespace penstock::booking {
namespace {

constexpr double kCentsPerUnit = 100;

class NullSeller final : public SlotSeller {
 public:
  SlotOffer offer(SlotDay& /*day*/) override { return {}; }
};

/// Every slot has an equal share of the calls that are expected, and closes when it is sold.
class StaticSeller final : public SlotSeller {
 public:
  SlotOffer offer(SlotDay& day) override {
    SlotOffer offer;
    const std::size_t count = day.market().num_slots();
    const double quota = std::ceil(day.episode().expected / count);
    for (std::size_t s = 0; s < count; ++s) { offer.withheld[s] = day.sold_by_slot()[s] >= quota; }
    return offer;
  }
};

/// Discounts only: half of what a slot saves against the insertion that is expected at no fee, up
/// to half of 1 / beta.
class IncentiveSeller final : public SlotSeller {
 public:
  SlotOffer offer(SlotDay& day) override {
    const auto costs = insertion_costs(day);
    const std::size_t count = day.market().num_slots();
    std::array<double, kMaxSlots> no_fees{};
    std::array<double, kMaxSlots> chances{};
    for (std::size_t s = 0; s < count; ++s) { no_fees[s] = costs[s] == kWithheld ? kWithheld : 0; }
    day.market().model_of(day.call()).chances(day.call().belief, no_fees, chances);
    double mean = 0;
    double buys = 0;
    for (std::size_t s = 0; s < count; ++s) {
      if (costs[s] == kWithheld) { continue; }
      mean += chances[s] * costs[s];
      buys += chances[s];
    }
    SlotOffer offer;
    const double most = 0.5 / day.market().taste().beta;
    for (std::size_t s = 0; s < count; ++s) {
      if (costs[s] == kWithheld) { continue; }
      const double saved = (mean / buys - costs[s]) / 2;
      offer.fees[s] = day.market().rounded_fee(-std::clamp(saved, 0.0, most));
    }
    return offer;
  }
};

class MyopicSeller final : public SlotSeller {
 public:
  explicit MyopicSeller(bool bayes) : bayes_(bayes) {}
  SlotOffer offer(SlotDay& day) override {
    const SegmentBelief prior = day.market().model_of(day.call()).prior();
    return priced_offer(day, bayes_ ? day.call().belief : prior, insertion_costs(day));
  }

 private:
  bool bayes_;
};

class BlendSeller final : public SlotSeller {
 public:
  SlotOffer offer(SlotDay& day) override {
    return priced_offer(day, day.call().belief, blended_costs(day));
  }
};

/// A seed per call and imagined future, apart from those of days.
std::uint64_t future_seed(const SlotDay& day, std::size_t i) {
  constexpr std::uint64_t kApart = 0x9e3779b97f4a7c15;
  return episode_seed(day.episode().seed ^ kApart, i, day.num_called());
}

/// Yang et al. 2016: a sale costs what it adds to routes that serve imagined calls too.
class ForesightSeller final : public SlotSeller {
 public:
  explicit ForesightSeller(std::size_t futures) : futures_(futures) {}

  SlotOffer offer(SlotDay& day) override {
    auto costs = insertion_costs(day);
    std::array<double, kMaxSlots> sums{};
    for (std::size_t i = 0; i < futures_; ++i) {
      future_.imagine(day, future_seed(day, i), Future::Now::last);
      add_costs(day, sums);
    }
    for (std::size_t s = 0; s < day.market().num_slots(); ++s) {
      if (costs[s] != kWithheld) { costs[s] = sums[s] / futures_; }
    }
    return priced_offer(day, day.call().belief, costs);
  }

 private:
  /// Where the imagined sales leave no place, one of them would have to go.
  void add_costs(const SlotDay& day, std::array<double, kMaxSlots>& sums) {
    later_.resume(day.market(), future_.episode, future_.plans);
    while (later_.num_called() + 1 < later_.episode().calls.size()) {
      const SlotOffer offer = base_.offer(later_);
      later_.sell(offer.fees, offer.withheld);
    }
    const auto quotes = later_.quote();
    for (std::size_t s = 0; s < quotes.size(); ++s) {
      sums[s] += quotes[s].fits ? quotes[s].cost / kCentsPerUnit : day.market().config().revenue;
    }
  }

  std::size_t futures_;
  Future future_;
  SlotDay later_;
  BlendSeller base_;
};

/// What a sale in a slot costs is what imagined futures, sold by `blend`, bring less after it. A
/// few futures tell little, so the costs of `blend` count as eight of them.
class RolloutSeller final : public SlotSeller {
 public:
  explicit RolloutSeller(std::size_t futures) : futures_(futures) {}

  SlotOffer offer(SlotDay& day) override {
    auto costs = blended_costs(day);
    std::array<double, kMaxSlots> sums{};
    for (std::size_t i = 0; i < futures_; ++i) {
      future_.imagine(day, future_seed(day, i), Future::Now::first);
      add_costs(day, costs, sums);
    }
    constexpr double kPrior = 8;
    const double played = futures_;
    for (std::size_t s = 0; s < day.market().num_slots(); ++s) {
      if (costs[s] != kWithheld) { costs[s] = (kPrior * costs[s] + sums[s]) / (kPrior + played); }
    }
    return priced_offer(day, day.call().belief, costs);
  }

 private:
  void add_costs(const SlotDay& day, std::span<const double> costs, std::span<double> sums) {
    const double without = play(day, kNoPurchase);
    for (std::size_t s = 0; s < day.market().num_slots(); ++s) {
      if (costs[s] == kWithheld) { continue; }
      sums[s] += without - play(day, s) + day.call().revenue / kCentsPerUnit;
    }
  }

  /// The profit from here on when the call takes the slot at no fee.
  double play(const SlotDay& day, std::int32_t slot) {
    SlotEpisode copy = future_.episode;
    later_.resume(day.market(), copy, future_.plans);
    if (slot == kNoPurchase) {
      SlotOffer nothing;
      nothing.withheld.fill(true);
      later_.sell(nothing.fees, nothing.withheld);
    } else {
      later_.take(slot);
    }
    while (!later_.over()) {
      const SlotOffer offer = base_.offer(later_);
      later_.sell(offer.fees, offer.withheld);
    }
    return later_.tally().profit / kCentsPerUnit;
  }

  std::size_t futures_;
  Future future_;
  SlotDay later_;
  BlendSeller base_;
};

/// Knows who will call and what they will take at any fee: before the first call it searches for
/// the level of each call that makes the episode's profit largest, one call changed at a time. A
/// strong search, not a bound.
class HindsightSeller final : public SlotSeller {
 public:
  SlotOffer offer(SlotDay& day) override {
    if (day.num_called() == 0) { search(day); }
    return offer_at(day, levels_[day.num_called()]);
  }

 private:
  static constexpr int kTriesPerCall = 5;

  static SlotOffer offer_at(SlotDay& day, std::int64_t level) {
    std::array<std::int64_t, kMaxSlots> all{};
    all.fill(level);
    return offer_of_levels(day, all);
  }

  Cents play(const SlotDay& day) {
    trial_.begin(day.market(), day.episode().seed);
    while (!trial_.over()) {
      const SlotOffer offer = offer_at(trial_, levels_[trial_.num_called()]);
      trial_.sell(offer.fees, offer.withheld);
    }
    return trial_.tally().profit;
  }

  void search(const SlotDay& day) {
    const std::size_t calls = day.episode().calls.size();
    std::int64_t best_level = 1;
    Cents best = std::numeric_limits<Cents>::min();
    for (std::int64_t level = 1; level < static_cast<std::int64_t>(kSlotLevels); ++level) {
      levels_.assign(calls, level);
      if (const Cents profit = play(day); profit > best) {
        best = profit;
        best_level = level;
      }
    }
    levels_.assign(calls, best_level);
    constexpr std::uint32_t kOwner = 0x68696e64;
    Random random({.seed = day.episode().seed, .owner = kOwner});
    for (std::size_t i = 0; i < kTriesPerCall * calls; ++i) {
      std::int64_t& changed = levels_[random.below(calls)];
      const std::int64_t before = changed;
      changed = random.below(kSlotLevels);
      const Cents profit = play(day);
      if (profit < best) { changed = before; }
      best = std::max(best, profit);
    }
  }

  std::vector<std::int64_t> levels_;  // [calls]
  SlotDay trial_;
};

class TrainedSeller final : public SlotSeller {
 public:
  explicit TrainedSeller(const std::shared_ptr<const PolicyModel>& model)
      : actor_(make_actor(model)) {}

  SlotOffer offer(SlotDay& day) override {
    write_slot_tokens(day, tokens_, legal_);
    actor_->act({.count = 1, .obs = tokens_, .legal = legal_}, {.choices = levels_});
    return offer_of_levels(day, levels_);
  }

 private:
  std::unique_ptr<Actor> actor_;
  std::array<float, kMaxSlots * kSlotFeatures> tokens_{};
  std::array<bool, kMaxSlots * kSlotLevels> legal_{};
  std::array<std::int64_t, kMaxSlots> levels_{};
};

/// N of "prefix-N", `usual` without it; 0 for another name.
std::size_t count_of(std::string_view name, std::string_view prefix, std::size_t usual) {
  if (name == prefix) { return usual; }
  if (!name.starts_with(prefix) || name.size() < prefix.size() + 2) { return 0; }
  if (name[prefix.size()] != '-') { return 0; }
  std::size_t count = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + prefix.size() + 1, end, count);
  constexpr std::size_t kMost = 10'000;
  return error == std::errc() && stop == end && count <= kMost ? count : 0;
}

}  // namespace

const std::vector<std::string>& slot_seller_names() {
  static const std::vector<std::string> kNames = {
      "null",  "static",    "incentive", "myopic",  "myopic-bayes",
      "blend", "programme", "foresight", "rollout", "hindsight"};
  return kNames;
}

std::unique_ptr<SlotSeller> make_slot_seller(const std::string& name) {
  constexpr std::size_t kFutures = 8;
  constexpr std::size_t kRollouts = 4;
  if (name == "null") { return std::make_unique<NullSeller>(); }
  if (name == "static") { return std::make_unique<StaticSeller>(); }
  if (name == "incentive") { return std::make_unique<IncentiveSeller>(); }
  if (name == "myopic") { return std::make_unique<MyopicSeller>(false); }
  if (name == "myopic-bayes") { return std::make_unique<MyopicSeller>(true); }
  if (name == "blend") { return std::make_unique<BlendSeller>(); }
  if (name == "programme") { return make_programme_seller(); }
  if (name == "hindsight") { return std::make_unique<HindsightSeller>(); }
  if (const std::size_t n = count_of(name, "foresight", kFutures); n > 0) {
    return std::make_unique<ForesightSeller>(n);
  }
  if (const std::size_t n = count_of(name, "rollout", kRollouts); n > 0) {
    return std::make_unique<RolloutSeller>(n);
  }
  throw UsageError(fmt::format("--sellers {}: not one of {}, trained, foresight-N, rollout-N{}",
                               name, fmt::join(slot_seller_names(), ", "),
                               did_you_mean(name, slot_seller_names())));
}

void require_slots_policy(const PolicyModel& model) {
  const EnvSpec& spec = model.spec();
  if (spec.obs.size() != kMaxSlots * kSlotFeatures ||
      spec.action.num_actions() != kMaxSlots * kSlotLevels) {
    throw UsageError("--policy: not a policy of the env slots; train one by --recipe slots");
  }
}

std::unique_ptr<SlotSeller> make_trained_seller(const std::shared_ptr<const PolicyModel>& model) {
  require_slots_policy(*model);
  return std::make_unique<TrainedSeller>(model);
}

}  // namespace penstock::booking
