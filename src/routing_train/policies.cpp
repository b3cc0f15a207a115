#include "penstock/routing_train/policies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "penstock/base/errors.h"
#include "penstock/routing/prices.h"

namespace penstock::routing {
namespace {

constexpr std::uint32_t kPolicyOwner = 0x706f6c69;  // apart from the day's own randomness

class Null final : public OfferPolicy {
 public:
  std::int32_t choose(const Situation& /*situation*/) override { return kNoChange; }
};

class RandomOffer final : public OfferPolicy {
 public:
  explicit RandomOffer(bool masked) : masked_(masked) {}
  void begin_day(std::uint64_t seed) override {
    random_ = Random({.seed = seed, .owner = kPolicyOwner});
  }
  std::int32_t choose(const Situation& situation) override {
    std::vector<std::int32_t>& legal = legal_;
    legal.clear();
    for (std::int32_t a = 0; a < kOffers; ++a) {
      if (!masked_ || allows(situation.type, static_cast<std::size_t>(a))) { legal.push_back(a); }
    }
    return legal[random_.below(static_cast<std::uint32_t>(legal.size()))];
  }

 private:
  bool masked_;
  Random random_;
  std::vector<std::int32_t> legal_;
};

class Max final : public OfferPolicy {
 public:
  std::int32_t choose(const Situation& situation) override {
    std::int32_t best = kNoChange;
    for (std::int32_t a = 0; a < kOffers; ++a) {
      const bool legal = allows(situation.type, static_cast<std::size_t>(a));
      if (legal && offered_minutes(a) > offered_minutes(best)) { best = a; }
    }
    return best;
  }
};

enum class Thinks { taken, true_type, posterior };

class Myopic final : public OfferPolicy {
 public:
  explicit Myopic(Thinks thinks) : thinks_(thinks) {}

  std::int32_t choose(const Situation& situation) override {
    const Booking& booking = situation.booking;
    routes_.load(booking.instance(), booking.plan());
    const auto prices =
        expected_prices(insertion_prices(routes_, booking.request(), situation.rules.offer),
                        chances(situation), situation.rules);
    std::int32_t best = kNoChange;  // which ties go to
    for (std::int32_t a = 0; a < kOffers; ++a) {
      if (prices[static_cast<std::size_t>(a)] < prices[static_cast<std::size_t>(best)]) {
        best = a;
      }
    }
    return best;
  }

 private:
  [[nodiscard]] std::array<double, kNumOffers> chances(const Situation& situation) const {
    std::array<double, kNumOffers> out{};
    const AnswerModel& answers = situation.rules.answers;
    for (std::size_t a = 0; a < kNumOffers; ++a) {
      out[a] = thinks_ == Thinks::taken ? 1.0
               : thinks_ == Thinks::true_type
                   ? answers.acceptance(static_cast<std::size_t>(situation.type), a)
                   : answers.acceptance(situation.belief, a);
    }
    return out;
  }

  Thinks thinks_;
  RouteSet routes_;
};

}  // namespace

std::array<double, kNumOffers> expected_prices(const std::array<Cost, kNumOffers>& insertion,
                                               const std::array<double, kNumOffers>& chances,
                                               const BookingRules& rules) {
  const auto price = [&](std::size_t a) {
    return static_cast<double>(insertion[a] == Insertion::kNowhere ? rules.unserved : insertion[a]);
  };
  const double unchanged = price(kNoChange);
  std::array<double, kNumOffers> out{};
  for (std::size_t a = 0; a < kNumOffers; ++a) {
    const auto minutes = static_cast<double>(offered_minutes(static_cast<std::int32_t>(a)));
    const double taken = price(a) + static_cast<double>(rules.per_minute) * minutes;
    const double refused = unchanged + static_cast<double>(rules.rejection);
    out[a] = chances[a] * taken + (1 - chances[a]) * refused;
  }
  out[kNoChange] = unchanged;
  return out;
}

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
  if (name == "myopic") { return std::make_unique<Myopic>(Thinks::taken); }
  if (name == "myopic-known") { return std::make_unique<Myopic>(Thinks::true_type); }
  if (name == "myopic-bayes") { return std::make_unique<Myopic>(Thinks::posterior); }
  throw UsageError(fmt::format("--policies {}: not one of {}, ppo{}", name,
                               fmt::join(offer_policy_names(), ", "),
                               did_you_mean(name, offer_policy_names())));
}

}  // namespace penstock::routing
