#include "penstock/domains/booking/compare/policies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/env/offer_prices.h"

namespace penstock::booking {
namespace {

constexpr std::uint32_t kPolicyOwner = 0x706f6c69;  // apart from the day's own randomness

class Null final : public OfferPolicy {
 public:
  std::int32_t choose(const OfferContext& /*context*/) override { return kNoChange; }
};

class RandomOffer final : public OfferPolicy {
 public:
  explicit RandomOffer(bool masked) : masked_(masked) {}
  void begin_day(std::uint64_t seed) override {
    random_ = Random({.seed = seed, .owner = kPolicyOwner});
  }
  std::int32_t choose(const OfferContext& context) override {
    std::vector<std::int32_t>& legal = legal_;
    legal.clear();
    for (std::int32_t a = 0; a < kOffers; ++a) {
      if (!masked_ || allows(context.type, static_cast<std::size_t>(a))) { legal.push_back(a); }
    }
    return legal[random_.below(legal.size())];
  }

 private:
  bool masked_;
  Random random_;
  std::vector<std::int32_t> legal_;
};

class Max final : public OfferPolicy {
 public:
  std::int32_t choose(const OfferContext& context) override {
    std::int32_t best = kNoChange;
    for (std::int32_t a = 0; a < kOffers; ++a) {
      const bool legal = allows(context.type, static_cast<std::size_t>(a));
      if (legal && offered_minutes(a) > offered_minutes(best)) { best = a; }
    }
    return best;
  }
};

enum class Thinks { taken, true_type, posterior };

class Myopic final : public OfferPolicy {
 public:
  Myopic(Thinks thinks, Pricing pricing) : thinks_(thinks), quoter_(pricing) {}

  std::int32_t choose(const OfferContext& context) override {
    quoter_.load(context.booking);
    return best_offer(quoter_.quote(context.rules.offer), chances(context), context.rules);
  }

 private:
  [[nodiscard]] std::array<double, kNumOffers> chances(const OfferContext& context) const {
    const AnswerModel& answers = context.rules.answers;
    if (thinks_ == Thinks::posterior) { return chances_of(answers, context.belief); }
    std::array<double, kNumOffers> out{};
    out.fill(1);
    if (thinks_ == Thinks::taken) { return out; }
    Belief certain{};
    certain[static_cast<std::size_t>(context.type)] = 1;
    return chances_of(answers, certain);
  }

  Thinks thinks_;
  Quoter quoter_;
};

}  // namespace

const std::vector<std::string>& offer_policy_names() {
  static const std::vector<std::string> kNames = {
      "null", "random", "random-masked", "myopic", "myopic-known", "myopic-bayes", "max"};
  return kNames;
}

std::unique_ptr<OfferPolicy> make_offer_policy(const std::string& name) {
  if (name == "null") { return std::make_unique<Null>(); }
  if (name == "random") { return std::make_unique<RandomOffer>(false); }
  if (name == "random-masked") { return std::make_unique<RandomOffer>(true); }
  if (name == "max") { return std::make_unique<Max>(); }
  constexpr std::string_view kRefined = ":relocate";
  const bool refined = name.ends_with(kRefined);
  const std::string_view plain(name.data(), name.size() - (refined ? kRefined.size() : 0));
  const Pricing pricing = refined ? Pricing::relocate : Pricing::insertion;
  if (plain == "myopic") { return std::make_unique<Myopic>(Thinks::taken, pricing); }
  if (plain == "myopic-known") { return std::make_unique<Myopic>(Thinks::true_type, pricing); }
  if (plain == "myopic-bayes") { return std::make_unique<Myopic>(Thinks::posterior, pricing); }
  throw UsageError(fmt::format("--policies {}: not one of {}, ppo{}", name,
                               fmt::join(offer_policy_names(), ", "),
                               did_you_mean(name, offer_policy_names())));
}

}  // namespace penstock::booking
