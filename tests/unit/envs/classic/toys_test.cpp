#include "penstock/envs/classic/toys.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "unit/envs/classic/harness.h"

namespace penstock {
namespace {

std::int64_t argmax(std::span<const float> values) {
  return std::max_element(values.begin(), values.end()) - values.begin();
}

/// The marked action that is legal, from what a policy can see.
std::int64_t legal_hint(const Alone<MaskedEnv>& alone) {
  const Part hint = alone.env.spec().obs.part("hint");
  for (std::size_t i = 0; i < hint.size; ++i) {
    if (alone.obs[hint.offset + i] == 1 && alone.legal[i]) { return static_cast<std::int64_t>(i); }
  }
  return -1;
}

std::array<std::int64_t, 3> shown_digits(const Alone<MultiEnv>& alone) {
  const std::span<const float> obs(alone.obs);
  return {argmax(obs.first(3)), argmax(obs.subspan(3, 2)), argmax(obs.subspan(5))};
}

}  // namespace

TEST_CASE("identity pays for the class shown and for nothing else") {
  Alone<IdentityEnv> alone({.num_classes = 3, .max_steps = 5});
  alone.reset(1);
  for (int t = 0; t < 50; ++t) {
    CHECK(std::count(alone.obs.begin(), alone.obs.end(), 1.0F) == 1);
    const std::int64_t shown = argmax(alone.obs);
    const bool right = t % 2 == 0;
    CHECK(alone.step(right ? shown : (shown + 1) % 3).reward == (right ? 1 : 0));
  }
}

TEST_CASE("a bandit's arm pays its mean on average and ends the episode") {
  Alone<BanditEnv> alone({.num_arms = 6, .noise = 0.5});
  CHECK(alone.env.mean(alone.env.best_arm()) == 1);
  for (const std::int64_t arm : {0, 2, 5}) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 4000; ++seed) {
      alone.reset(seed);
      const Outcome outcome = alone.step(arm);
      REQUIRE(outcome.terminated);
      sum += outcome.reward;
    }
    CHECK(sum / 4000 == doctest::Approx(alone.env.mean(arm)).epsilon(0.05));
    CHECK(alone.env.mean(arm) <= 1);
  }
}

TEST_CASE("masked pays for the legal one of the two marked actions") {
  Alone<MaskedEnv> alone;
  alone.reset(4);
  for (int t = 0; t < 200; ++t) {
    const std::int64_t hint = legal_hint(alone);
    CHECK(hint == alone.env.answer());
    const Outcome outcome = alone.step(hint);
    CHECK(outcome.reward == 1);
    CHECK(outcome.success == Success::yes);
    CHECK_FALSE(outcome.terminated);
  }
}

TEST_CASE("masked tells by success that the mask was broken") {
  Alone<MaskedEnv> alone;
  alone.reset(4);
  for (int t = 0; t < 50; ++t) {
    const std::int64_t illegal =
        std::find(&alone.legal[0], &alone.legal[8], false) - &alone.legal[0];
    REQUIRE(illegal < 8);  // the lure always is
    const Outcome outcome = alone.step(illegal);
    CHECK(outcome.reward == -1);
    CHECK(outcome.terminated);
    CHECK(outcome.success == Success::no);
    alone.reset(static_cast<std::uint64_t>(t));
  }
  CHECK(alone.step(std::int64_t{-1}).success == Success::no);
  CHECK(alone.step(std::int64_t{8}).success == Success::no);
}

TEST_CASE("masked changes its mask from step to step and about half is legal") {
  Alone<MaskedEnv> alone({.num_features = 1212, .num_actions = 145});
  alone.reset(0);
  std::vector<bool> last;
  std::int64_t num_legal = 0;
  for (int t = 0; t < 100; ++t) {
    const std::vector<bool> mask(&alone.legal[0], &alone.legal[145]);
    CHECK(mask != last);
    last = mask;
    num_legal += std::count(mask.begin(), mask.end(), true);
    alone.step(alone.env.answer());
  }
  CHECK(num_legal / 100.0 == doctest::Approx(72.5).epsilon(0.05));
}

TEST_CASE("masked refuses a row too short for its hint") {
  CHECK_THROWS_WITH_AS(MaskedEnv({.num_features = 9, .num_actions = 8}),
                       doctest::Contains("at least 10"), ConfigError);
}

TEST_CASE("multi pays the share of digits that match and ends after its length") {
  Alone<MultiEnv> alone({.length = 6});
  alone.reset(2);
  for (int t = 1; t <= 6; ++t) {
    const Outcome outcome = alone.step(shown_digits(alone));
    CHECK(outcome.reward == 1);
    CHECK(outcome.terminated == (t == 6));
    CHECK(outcome.success == Success::yes);
  }
}

TEST_CASE("multi pays two thirds for two digits, and -1 for an illegal one") {
  Alone<MultiEnv> alone;
  bool saw_legal = false;
  bool saw_illegal = false;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    alone.reset(seed);
    auto action = shown_digits(alone);
    action[1] = 1 - action[1];
    const bool legal = alone.legal[static_cast<std::size_t>(3 + action[1])];
    const Outcome outcome = alone.step(action);
    CHECK(outcome.reward == doctest::Approx(legal ? 2.0 / 3 : -1));
    CHECK(outcome.terminated == !legal);
    (legal ? saw_legal : saw_illegal) = true;
  }
  CHECK(saw_legal);
  CHECK(saw_illegal);
}

TEST_CASE("walking straight reaches the target") {
  Alone<ReachEnv> alone;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    alone.reset(seed);
    Outcome outcome;
    for (int t = 0; t < 11 && !outcome.terminated; ++t) {
      outcome = alone.step(std::array{std::clamp((alone.obs[2] - alone.obs[0]) * 5, -1.0F, 1.0F),
                                      std::clamp((alone.obs[3] - alone.obs[1]) * 5, -1.0F, 1.0F)});
    }
    CHECK(outcome.terminated);
    CHECK(outcome.success == Success::yes);
    CHECK(outcome.reward > -0.1F);
  }
}

TEST_CASE("a toy refuses a loaded state that would index past its row") {
  Alone<IdentityEnv> alone;
  alone.reset(0);
  std::vector<std::byte> bytes;
  StateWriter writer(bytes);
  alone.env.state(writer);
  bytes.back() = std::byte{1};  // the class shown, now astronomically large
  StateReader reader(bytes);
  CHECK_THROWS_AS(alone.env.state(reader), DataError);
}

}  // namespace penstock
