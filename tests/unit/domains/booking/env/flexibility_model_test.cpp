#include "penstock/domains/booking/env/flexibility_model.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "support/sanitized.h"

namespace penstock::booking {
namespace {

constexpr std::size_t kCustomers = 30;

Flexibility type_of(std::size_t customer) { return static_cast<Flexibility>(customer % 4); }

std::vector<AnswerSample> answers(const AnswerModel& model, std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<AnswerSample> samples;
  while (samples.size() < count) {
    const auto customer = static_cast<std::uint16_t>(random.below(kCustomers));
    const auto offer = static_cast<std::uint8_t>(random.below(kNumOffers));
    if (offer == kNoChange) { continue; }
    const bool taken = model.answer(type_of(customer), offer, random);
    samples.push_back({customer, offer, static_cast<std::uint8_t>(taken)});
  }
  return samples;
}

std::size_t num_right(const FlexibilityModel& model) {
  std::size_t right = 0;
  for (std::size_t c = 0; c < kCustomers; ++c) {
    right += likeliest(model.beliefs()[c]) == type_of(c);
  }
  return right;
}

}  // namespace

TEST_CASE("an embedding that has learnt nothing believes nothing") {
  const FlexibilityModel model(kCustomers, AnswerModel(), 1);
  for (const Belief& belief : model.beliefs()) { CHECK(belief == Belief{0.25, 0.25, 0.25, 0.25}); }
}

TEST_CASE("the gradient is the slope of the loss") {
  const AnswerModel noisy("noisy", 0.1);
  const auto samples = answers(noisy, 300, 2);
  FlexibilityModel model(kCustomers, noisy, 3);
  model.train(samples, 3);  // away from the start, where most slopes are zero
  std::vector<double> gradient(model.weights().size());
  model.loss(samples, gradient);
  Random random(4);
  std::vector<double> unused(gradient.size());
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t i = random.below(static_cast<std::uint32_t>(gradient.size()));
    constexpr double kStep = 1e-5;
    const double weight = model.weights()[i];
    const auto loss_at = [&](double x) {
      model.weights()[i] = x;
      model.refresh();
      return model.loss(samples, unused);
    };
    const double slope = (loss_at(weight + kStep) - loss_at(weight - kStep)) / (2 * kStep);
    model.weights()[i] = weight;
    INFO("weight ", i);
    CHECK(std::abs(gradient[i] - slope) < 1e-8 + 1e-5 * std::abs(slope));
  }
}

TEST_CASE("50 epochs learn at least 95 % of types, with and without noise" *
          doctest::skip(kSanitized)) {
  for (const char* name : {"rule", "noisy", "logit"}) {
    INFO(name);
    const AnswerModel answer_model(name, 0.05);
    FlexibilityModel model(kCustomers, answer_model, 5);
    const auto losses = model.train(answers(answer_model, 19'200, 6), 50);
    CHECK(losses.size() == 50);
    CHECK(losses.back() < losses.front());
    CHECK(num_right(model) * 100 >= kCustomers * 95);
  }
}

TEST_CASE("customers of whom nothing was heard stay unknown, and doubt is shared out as by Bayes") {
  FlexibilityModel model(kCustomers, AnswerModel(), 7);
  std::vector<AnswerSample> samples(400, {3, 3, 0});  // "both" is refused, again and again
  model.train(samples, 50);
  const Belief& refused = model.beliefs()[3];
  CHECK(refused[3] < 0.05);
  CHECK(std::ranges::min(std::span(refused).first(3)) > 0.2);
}

TEST_CASE("no belief is for ever: whatever all are taken for, 50 epochs of answers put it right" *
          doctest::skip(kSanitized)) {
  const AnswerModel noisy("noisy", 0.05);
  for (std::size_t wrong = 0; wrong < kNumTypes; ++wrong) {
    const auto type = static_cast<Flexibility>(wrong);
    INFO("all taken for type ", wrong);
    FlexibilityModel model(kCustomers, noisy, 8);
    std::vector<AnswerSample> samples;
    for (std::uint16_t c = 0; c < kCustomers; ++c) {
      for (const std::uint8_t offer : {0, 3, 15}) {
        samples.insert(samples.end(), 20,
                       {c, offer, allows(type, offer) ? std::uint8_t{1} : std::uint8_t{0}});
      }
    }
    for (int round = 0; round < 20; ++round) { model.train(samples, 50); }
    for (const Belief& belief : model.beliefs()) {
      CHECK(likeliest(belief) == type);
      // A softmax at 0 or 1 would have no slope left to learn by.
      CHECK(std::ranges::min(belief) > 1e-6);
    }
    model.train(answers(noisy, 3000, 9), 50);
    CHECK(num_right(model) == kCustomers);
  }
}

TEST_CASE("training is a function of seed and samples, and goes on from a saved state") {
  const AnswerModel rule;
  const auto samples = answers(rule, 2000, 10);
  FlexibilityModel whole(kCustomers, rule, 11);
  FlexibilityModel first(kCustomers, rule, 11);
  whole.train(samples, 3);
  whole.train(samples, 3);
  first.train(samples, 3);
  std::vector<std::byte> bytes;
  StateWriter writer(bytes);
  first.state(writer);
  FlexibilityModel second(kCustomers, rule, 11);
  StateReader reader(bytes);
  second.state(reader);
  second.train(samples, 3);
  CHECK(std::ranges::equal(second.weights(), whole.weights()));

  FlexibilityModel other(kCustomers - 1, rule, 11);
  StateReader again(bytes);
  CHECK_THROWS_AS(other.state(again), DataError);
}

}  // namespace penstock::booking
