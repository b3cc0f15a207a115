#include "penstock/domains/booking/env/embedding.h"

#include <doctest/doctest.h>

#include <cmath>

#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/env/beliefs.h"
#include "play.h"
#include "support/sanitized.h"

namespace penstock::booking {
namespace {

using test::metric;
using test::Play;

DvrptwConfig learning() {
  DvrptwConfig config;
  config.oracle = "insertion";
  config.obs = "list";
  config.mask = "learnt";
  config.answer = "noisy";
  return config;
}

/// A day of all envs, then what they know is put together.
void play_day(Play& play) {
  for (int t = 0; t < 30; ++t) { play.random_step(); }
  play.env->shared()->between_rollouts({});
}

/// Customers whose likeliest type, as learnt, is not the true one.
int num_wrong(Play& play) {
  return static_cast<int>(std::lround(30 * (1 - metric(*play.env, "embedding/accuracy"))));
}

/// What envs share when everybody refused every offer once.
std::vector<std::byte> all_taken_for_rigid(const DvrptwConfig& config) {
  SharedBeliefs::Options options;
  options.people = config.people;
  options.learns = true;
  options.embedding.seed = config.people;
  options.embedding.interval = 1;
  options.embedding.epochs = 500;
  SharedBeliefs beliefs(options, AnswerModel(config.answer, config.eta));
  Notes notes(options.num_customers, 1000);
  for (std::size_t customer = 0; customer < options.num_customers; ++customer) {
    for (std::size_t offer = 0; offer < kNumOffers; ++offer) { notes.add(customer, offer, false); }
  }
  Notes* const all = &notes;
  beliefs.merge({&all, 1});
  std::vector<std::byte> bytes;
  beliefs.save(bytes);
  return bytes;
}

}  // namespace

TEST_CASE("after 50 epochs no belief is absorbed: every type is right" *
          doctest::skip(kSanitized)) {
  for (const char* from : {"argmax", "sample", "soft"}) {
    INFO(from);
    DvrptwConfig config = learning();
    config.mask_from = from;
    config.embedding_epochs = 10;  // five trainings of these
    Play play(config, 16);
    play.reset();
    for (int day = 0; day < 50; ++day) { play_day(play); }
    CHECK(num_wrong(play) == 0);
    CHECK(metric(*play.env, "embedding/distance_to_bayes") < 0.1);
    CHECK(metric(*play.env, "beliefs/bayes_accuracy") == 1);
  }
}

TEST_CASE("30 customers taken for rigid are all found out in 50 epochs; without exploring, none" *
          doctest::skip(kSanitized)) {
  struct Case {
    const char* mask_from;
    double epsilon;  // from the first day to the last
    bool finds_out;
  };
  for (const Case& each : {Case{"argmax", 0.02, true}, Case{"soft", 0.02, true},
                           Case{"sample", 0, true}, Case{"argmax", 0, false}}) {
    INFO(each.mask_from, " ", each.epsilon);
    DvrptwConfig config = learning();
    config.mask_from = each.mask_from;
    config.epsilon = config.epsilon_floor = each.epsilon;
    Play play(config, 64);
    play.env->shared()->load(all_taken_for_rigid(config));
    REQUIRE(metric(*play.env, "embedding/share_rigid") > 0.9);
    const int wrong = num_wrong(play);
    REQUIRE(wrong > 15);
    play.reset();
    for (int day = 0; day < 50; ++day) { play_day(play); }
    CHECK(num_wrong(play) == (each.finds_out ? 0 : wrong));
  }
}

TEST_CASE("the loss of every epoch and the shares of types are told once") {
  Play play(learning(), 8);
  play.reset();
  for (int day = 0; day < 10; ++day) { play_day(play); }
  const auto metrics = play.env->shared()->take_metrics();
  const auto value = [&](const std::string& name) {
    for (const auto& [key, number] : metrics) {
      if (key == name) { return number; }
    }
    return -1.0;
  };
  CHECK(value("embedding/loss_01") > value("embedding/loss_50"));
  CHECK(value("embedding/loss") == value("embedding/loss_50"));
  CHECK(value("embedding/share_later") + value("embedding/share_earlier") +
            value("embedding/share_rigid") + value("embedding/share_both") ==
        doctest::Approx(1));
  CHECK(metric(*play.env, "embedding/loss") == -1);
}

TEST_CASE("learning beside the rollout gives the same beliefs every time, a rollout later") {
  DvrptwConfig config = learning();
  config.embedding = "async";
  config.embedding_interval = 1;  // at every chance
  config.embedding_epochs = 5;
  Play first(config, 4);
  Play second(config, 4);
  config.embedding = "sync";
  Play at_once(config, 4);
  for (Play* play : {&first, &second, &at_once}) {
    play->reset();
    play_day(*play);
  }
  CHECK(metric(*first.env, "embedding/loss") == -1);
  CHECK(metric(*at_once.env, "embedding/loss") > 0);
  save_shared(*second.env);  // waits for the training, which must not matter
  for (int day = 0; day < 5; ++day) {
    play_day(first);
    play_day(second);
    CHECK(first.obs == second.obs);
    CHECK(save_shared(*first.env) == save_shared(*second.env));
  }
}

TEST_CASE("what is shared goes on identically elsewhere, and bytes cut short are refused") {
  DvrptwConfig config = learning();
  config.embedding = "async";
  config.embedding_interval = 1;
  config.embedding_epochs = 3;
  config.embedding_buffer = 200;  // a ring soon
  Play original(config, 4);
  original.reset();
  for (int day = 0; day < 5; ++day) { play_day(original); }

  Play copy(config, 4);
  const auto bytes = save_shared(*original.env);
  copy.env->shared()->load(bytes);
  CHECK(save_shared(*copy.env) == bytes);
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<std::byte> state;
    original.env->save(i, state);
    copy.env->load(i, state);
  }
  copy.obs = original.obs;
  std::copy_n(original.legal.get(), 4 * kNumOffers, copy.legal.get());
  copy.random = original.random;
  for (int day = 0; day < 5; ++day) {
    play_day(original);
    play_day(copy);
  }
  CHECK(save_shared(*copy.env) == save_shared(*original.env));
  CHECK(copy.obs == original.obs);

  for (const std::size_t size : {std::size_t{1}, bytes.size() / 2, bytes.size() - 1}) {
    CHECK_THROWS_AS(copy.env->shared()->load(std::span(bytes).first(size)), DataError);
  }
  auto longer = bytes;
  longer.push_back(std::byte{0});
  CHECK_THROWS_AS(copy.env->shared()->load(longer), DataError);
}

TEST_CASE("other people are met without prejudice" * doctest::skip(kSanitized)) {
  DvrptwConfig config = learning();
  config.stay_days = 10;
  config.embedding_interval = 300;
  Play play(config, 8);
  play.reset();
  for (int day = 0; day < 9; ++day) { play_day(play); }
  CHECK(metric(*play.env, "embedding/accuracy") > 0.8);
  play_day(play);  // its last step begins the day of others
  CHECK(metric(*play.env, "embedding/accuracy") < 0.7);
  for (int day = 0; day < 9; ++day) { play_day(play); }
  CHECK(metric(*play.env, "embedding/accuracy") > 0.8);
}

}  // namespace penstock::booking
