#include "penstock/domains/booking/slots/choice.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"

namespace penstock::booking {
namespace {

using Three = std::array<double, 3>;

ChoiceModel one_segment() { return {3, {{.beta = 0.5, .utility = {std::log(3), 0, std::log(2)}}}}; }

double expected_margin(const ChoiceSegment& segment, const Three& costs, double revenue,
                       const Three& fees) {
  const ChoiceModel model(3, {segment});
  Three chances{};
  model.chances(0, fees, chances);
  double sum = 0;
  for (std::size_t s = 0; s < 3; ++s) { sum += chances[s] * (revenue + fees[s] - costs[s]); }
  return sum;
}

}  // namespace

TEST_CASE("shares of a multinomial logit are those of the closed form") {
  Three chances{};
  one_segment().chances(0, Three{0, 0, 0}, chances);  // weights 3, 1, 2 and 1 of no purchase
  CHECK(chances[0] == doctest::Approx(3.0 / 7));
  CHECK(chances[1] == doctest::Approx(1.0 / 7));
  CHECK(chances[2] == doctest::Approx(2.0 / 7));

  const double fee = 2 * std::log(2);  // halves the weight at a beta of 1/2
  one_segment().chances(0, Three{fee, kWithheld, 0}, chances);  // weights 3/2, 0, 2 and 1
  CHECK(chances[0] == doctest::Approx(1.5 / 4.5));
  CHECK(chances[1] == 0);
  CHECK(chances[2] == doctest::Approx(2 / 4.5));
}

TEST_CASE("large utilities and fees do not overflow") {
  const ChoiceModel model(2, {{.beta = 1, .utility = {2000, 1999}}});
  std::array<double, 2> chances{};
  model.chances(0, std::array{0.0, 0.0}, chances);
  CHECK(chances[0] == doctest::Approx(1 / (1 + std::exp(-1.0))));
  model.chances(0, std::array{1e6, 1e6}, chances);
  CHECK(chances[0] == 0);
  CHECK(model.log_likelihood(0, std::array{1e6, 1e6}, kNoPurchase) == 0);
}

TEST_CASE("the posterior over segments is the one found by hand") {
  // Chances of slot 0: 1/2 for the first segment, 4/5 for the second; of no purchase 1/2 and 1/5.
  const ChoiceModel model(1, {{.share = 3, .beta = 1, .utility = {0}},
                              {.share = 1, .beta = 1, .utility = {std::log(4)}}});
  SegmentBelief belief = model.prior();
  CHECK(belief[0] == doctest::Approx(0.75));
  const std::array fees{0.0};
  CHECK(model.log_likelihood(belief, fees, 0) == doctest::Approx(std::log(0.75 / 2 + 0.25 * 0.8)));
  model.update(belief, fees, 0);
  CHECK(belief[1] == doctest::Approx(0.2 / 0.575));
  model.update(belief, fees, kNoPurchase);
  CHECK(belief[1] == doctest::Approx(0.2 * 0.2 / (0.2 * 0.2 + 0.375 * 0.5)));
  const SegmentBelief before = belief;
  model.update(belief, std::array{kWithheld}, 0);  // cannot have happened
  CHECK(belief == before);
}

TEST_CASE("Lambert's W is scipy's") {
  CHECK(lambert_w_of_exp(0) == doctest::Approx(0.5671432904097838).epsilon(1e-13));
  CHECK(lambert_w_of_exp(1) == doctest::Approx(1).epsilon(1e-13));
  CHECK(lambert_w_of_exp(-1) == doctest::Approx(0.2784645427610738).epsilon(1e-13));
  CHECK(lambert_w_of_exp(2) == doctest::Approx(1.5571455989976115).epsilon(1e-13));
  CHECK(lambert_w_of_exp(500) == doctest::Approx(493.7978737290337).epsilon(1e-13));
  CHECK(lambert_w_of_exp(-2000) == 0);
  CHECK(lambert_w_of_exp(1e6) > 999'000);
}

TEST_CASE("the best fees are those of a numeric search") {
  const ChoiceSegment segment{.beta = 0.3, .utility = {1, 0.2, -0.5}};
  const Three costs{4, 7.5, 2};
  constexpr double kRevenue = 12;
  Three fees{};
  best_fees(segment, kRevenue, costs, fees);
  // scipy.optimize.minimize (Nelder-Mead) over the three fees, to 1e-12.
  CHECK(fees[0] == doctest::Approx(2.3450463).epsilon(1e-6));
  CHECK(fees[1] == doctest::Approx(5.8450463).epsilon(1e-6));
  CHECK(fees[2] == doctest::Approx(0.3450463).epsilon(1e-6));

  const double best = expected_margin(segment, costs, kRevenue, fees);
  Random random(7);
  for (int i = 0; i < 1000; ++i) {
    Three other = fees;
    for (double& fee : other) { fee += random.uniform(-3, 3); }
    CHECK(expected_margin(segment, costs, kRevenue, other) <= best + 1e-12);
  }
  best_fees(segment, kRevenue, Three{4, kWithheld, 2}, fees);
  CHECK(fees[1] == kWithheld);
  best_fees(segment, kRevenue, Three{kWithheld, kWithheld, kWithheld}, fees);
  CHECK(fees[0] == kWithheld);
}

TEST_CASE("choices by Gumbel noise have the chances of the logit") {
  const ChoiceModel model = one_segment();
  const Three fees{0, 0, 0};
  std::array<int, 4> taken{};
  constexpr int kDraws = 40'000;
  Random random(3);
  for (int i = 0; i < kDraws; ++i) {
    std::array<double, 4> gumbel{};
    for (double& noise : gumbel) { noise = -std::log(-std::log(1 - random.uniform())); }
    const std::int32_t choice = model.choose(0, fees, gumbel);
    ++taken[choice == kNoPurchase ? 3 : static_cast<std::size_t>(choice)];
  }
  constexpr double kFourErrors = 4 * 0.5 / 200;  // of a share of 40,000 draws
  CHECK(std::abs(taken[0] / double{kDraws} - 3.0 / 7) < kFourErrors);
  CHECK(std::abs(taken[1] / double{kDraws} - 1.0 / 7) < kFourErrors);
  CHECK(std::abs(taken[3] / double{kDraws} - 1.0 / 7) < kFourErrors);
}

TEST_CASE("a merged segment is the segment where there is one") {
  const ChoiceModel model = one_segment();
  const ChoiceSegment merged = model.merged(model.prior());
  CHECK(merged.beta == doctest::Approx(0.5));
  CHECK(merged.utility[0] == doctest::Approx(std::log(3)));
  const ChoiceModel two(1, {{.beta = 1, .utility = {0}}, {.beta = 2, .utility = {std::log(4)}}});
  CHECK(two.merged(two.prior()).utility[0] == doctest::Approx(std::log(2.5)));
}

TEST_CASE("types differ in the direction that they like") {
  const std::vector<SlotTime> slots = {{0, 8, 10}, {0, 10, 12}, {0, 12, 14}, {1, 10, 12}};
  const SlotTaste taste{
      .base = 2, .beta = 1, .per_rigid_hour = 1, .per_free_hour = 0.25, .per_day = 0.5};
  const ChoiceModel model = model_of_wish(11, slots, taste);
  REQUIRE(model.num_segments() == 4);
  const auto at = [&](std::size_t type) { return model.segment(type).utility; };
  CHECK(at(0)[0] == 1);     // later: an hour earlier is disliked
  CHECK(at(0)[2] == 1.75);  // and an hour later is not
  CHECK(at(1)[0] == 1.75);  // earlier
  CHECK(at(2)[0] == 1);     // rigid
  CHECK(at(2)[2] == 1);
  CHECK(at(3)[0] == 1.75);  // both
  CHECK(at(3)[1] == 2);     // the wish itself
  CHECK(at(3)[3] == 1.5);   // a day later
}

TEST_CASE("models that cannot be are refused") {
  CHECK_THROWS_AS(ChoiceModel(0, {{}}), UsageError);
  CHECK_THROWS_AS(ChoiceModel(kMaxSlots + 1, {{}}), UsageError);
  CHECK_THROWS_AS(ChoiceModel(1, std::vector<ChoiceSegment>()), UsageError);
  CHECK_THROWS_AS(ChoiceModel(1, {{.beta = 0}}), UsageError);
  CHECK_THROWS_AS(ChoiceModel(1, {{.share = 0}}), UsageError);
}

}  // namespace penstock::booking
