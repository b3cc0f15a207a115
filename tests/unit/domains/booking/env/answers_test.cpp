#include "penstock/domains/booking/env/answers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "penstock/core/base/errors.h"

namespace penstock::booking {
namespace {

/// Answers to offers drawn at random.
AnswerCounts observe(const AnswerModel& model, Flexibility type, int num_answers, Random& random) {
  AnswerCounts counts{};
  for (int i = 0; i < num_answers; ++i) {
    const std::size_t offer = random.below(kNumOffers);
    ++counts[offer][model.answer(type, offer, random) ? 1 : 0];
  }
  return counts;
}

constexpr std::size_t offer_of(int earlier, int later) {
  return static_cast<std::size_t>(4 * (3 - earlier / 10) + later / 10);
}

}  // namespace

TEST_CASE("the types allow 4, 4, 1 and 16 offers") {
  std::array<int, kNumTypes> legal{};
  for (std::size_t type = 0; type < kNumTypes; ++type) {
    for (std::size_t offer = 0; offer < kNumOffers; ++offer) {
      legal[type] += allows(static_cast<Flexibility>(type), offer);
    }
  }
  CHECK(legal == std::array<int, kNumTypes>{4, 4, 1, 16});
}

TEST_CASE("a split of 8, 7, 6 and 9 leaves 210 of 480 offers and an entropy of 1.525 at most") {
  std::vector<Flexibility> types;
  const std::array<int, kNumTypes> split = {8, 7, 6, 9};
  for (std::size_t type = 0; type < kNumTypes; ++type) {
    types.insert(types.end(), split[type], static_cast<Flexibility>(type));
  }
  const std::size_t size = types.size() * kNumOffers;
  const auto masks = std::make_unique<bool[]>(size);
  compute_masks_from_flexibility(types, {masks.get(), size});
  CHECK(size == 480);
  CHECK(std::count(masks.get(), masks.get() + size, true) == 210);

  double entropy = 0;  // of a policy that likes all legal offers the same
  for (std::size_t c = 0; c < types.size(); ++c) {
    const auto row = masks.get() + c * kNumOffers;
    CHECK(row[kNoChange]);
    entropy += std::log(static_cast<double>(std::count(row, row + kNumOffers, true)));
  }
  CHECK(entropy / 30 <= 1.525);
  CHECK(entropy / 30 == doctest::Approx((15 * std::log(4) + 9 * std::log(16)) / 30));
  CHECK(std::log(static_cast<double>(kNumOffers)) == doctest::Approx(2.7726).epsilon(1e-5));
}

TEST_CASE("the answer models keep their probabilities") {
  const AnswerModel rule;
  const AnswerModel noisy("noisy", 0.05);
  const AnswerModel logit("logit");
  for (std::size_t t = 0; t < kNumTypes; ++t) {
    const auto type = static_cast<Flexibility>(t);
    for (std::size_t offer = 0; offer < kNumOffers; ++offer) {
      CHECK(rule.acceptance(t, offer) == (allows(type, offer) ? 1 : 0));
      if (offer == kNoChange) {
        CHECK(noisy.acceptance(t, offer) == 1);
        CHECK(logit.acceptance(t, offer) == 1);
        continue;
      }
      CHECK(noisy.acceptance(t, offer) == doctest::Approx(allows(type, offer) ? 0.95 : 0.05));
      CHECK((logit.acceptance(t, offer) > 0.5) == allows(type, offer));
    }
  }
  CHECK_THROWS_WITH_AS(AnswerModel("noise"), doctest::Contains("noisy"), UsageError);
}

TEST_CASE("answers come as often as the model says") {
  const AnswerModel noisy("noisy", 0.2);
  Random random(4);
  int taken = 0;
  for (int i = 0; i < 10'000; ++i) { taken += noisy.answer(Flexibility::rigid, 3, random); }
  CHECK(taken > 1850);
  CHECK(taken < 2150);
}

TEST_CASE("both probes settle the type when answers have no noise") {
  const AnswerModel rule;
  const BayesFilter filter(rule);
  Random random(1);
  for (std::size_t t = 0; t < kNumTypes; ++t) {
    const auto type = static_cast<Flexibility>(t);
    AnswerCounts counts{};
    ++counts[offer_of(10, 0)][rule.answer(type, offer_of(10, 0), random) ? 1 : 0];
    const Belief half = filter.posterior(counts);
    CHECK(std::ranges::count(half, 0.5) == 2);  // one probe leaves two types
    ++counts[offer_of(0, 30)][rule.answer(type, offer_of(0, 30), random) ? 1 : 0];
    CHECK(likeliest(filter.posterior(counts)) == type);
    CHECK(filter.posterior(counts)[t] == 1);
  }
}

TEST_CASE("a belief forbids what its likeliest types refuse, and nothing while it knows nothing") {
  const auto open = [](const Belief& belief) {
    std::array<bool, kNumOffers> mask{};
    compute_mask_from_belief(belief, mask);
    CHECK(mask[kNoChange]);
    return std::ranges::count(mask, true);
  };
  CHECK(open({0.25, 0.25, 0.25, 0.25}) == 16);
  CHECK(open(BayesFilter(AnswerModel()).posterior(AnswerCounts{})) == 16);
  // Later only, earlier only, rigid, both: three changes in a direction beside none.
  CHECK(open({0.4, 0.2, 0.2, 0.2}) == 4);
  CHECK(open({0.2, 0.4, 0.2, 0.2}) == 4);
  CHECK(open({0.2, 0.2, 0.4, 0.2}) == 1);
  CHECK(open({0.2, 0.2, 0.2, 0.4}) == 16);
  CHECK(open({0.5, 0, 0.5, 0}) == 4);    // who refused to be earlier
  CHECK(open({0.4, 0.4, 0.2, 0}) == 7);  // either direction, not both at once
  CHECK(open({0, 0.5, 0, 0.5}) == 16);   // who agreed to be earlier may agree to more
}

TEST_CASE("640 answers of each customer settle 99 % of types at 5 % noise") {
  const AnswerModel noisy("noisy", 0.05);
  const BayesFilter filter(noisy);
  Random random(2);
  int right = 0;
  constexpr int kCustomers = 1000;
  for (int c = 0; c < kCustomers; ++c) {
    const auto type = static_cast<Flexibility>(c % 4);
    right += likeliest(filter.posterior(observe(noisy, type, 640, random))) == type;
  }
  CHECK(right >= kCustomers * 99 / 100);
}

TEST_CASE("the posterior is Bayes' rule, multiplied out") {
  const AnswerModel logit("logit");
  const BayesFilter filter(logit);
  Random random(3);
  const AnswerCounts counts = observe(logit, Flexibility::earlier, 7, random);
  Belief product{};
  for (std::size_t t = 0; t < kNumTypes; ++t) {
    product[t] = 0.25;
    for (std::size_t offer = 0; offer < kNumOffers; ++offer) {
      const double p = logit.acceptance(t, offer);
      product[t] *= std::pow(1 - p, counts[offer][0]) * std::pow(p, counts[offer][1]);
    }
  }
  const double sum = std::accumulate(product.begin(), product.end(), 0.0);
  const Belief posterior = filter.posterior(counts);
  for (std::size_t t = 0; t < kNumTypes; ++t) {
    CHECK(posterior[t] == doctest::Approx(product[t] / sum));
  }
}

TEST_CASE("no answers, no knowledge; answers that nobody gives leave a belief all the same") {
  const BayesFilter filter{AnswerModel()};
  CHECK(filter.posterior(AnswerCounts{}) == Belief{0.25, 0.25, 0.25, 0.25});
  AnswerCounts counts{};
  counts[3] = {5, 1};  // taken once and refused five times: some other than `both`
  const Belief belief = filter.posterior(counts);
  CHECK(belief[3] == 0);
  CHECK(belief[0] + belief[1] + belief[2] == doctest::Approx(1));
}

}  // namespace penstock::booking
