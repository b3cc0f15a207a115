#include "penstock/domains/booking/env/beliefs.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "penstock/core/base/errors.h"

namespace penstock::booking {
namespace {

// Offers by what they ask: 30 minutes both ways, 30 minutes later, 30 minutes earlier.
constexpr std::size_t kBothWays = 3;
constexpr std::size_t kLater = 15;
constexpr std::size_t kEarlier = 0;

SharedBeliefs beliefs_of(std::size_t customers, const AnswerModel& answers) {
  return {{.num_customers = customers}, answers};
}

void merge_all(SharedBeliefs& beliefs, std::vector<Notes>& notes) {
  std::vector<Notes*> pointers;
  for (Notes& each : notes) { pointers.push_back(&each); }
  beliefs.merge(pointers);
}

double metric_of(SharedBeliefs& beliefs, const std::string& name) {
  for (const auto& [key, value] : beliefs.take_metrics()) {
    if (key == name) { return value; }
  }
  return -1;
}

std::vector<std::byte> saved(const SharedBeliefs& beliefs) {
  std::vector<std::byte> bytes;
  beliefs.save(bytes);
  return bytes;
}

}  // namespace

TEST_CASE("n offers that only one type allows, all taken: odds of (9 to 1) to the n") {
  const AnswerModel noisy("noisy", 0.1);
  const SharedBeliefs beliefs = beliefs_of(2, noisy);
  Notes notes(2, 0);
  for (int n = 1; n <= 4; ++n) {
    notes.add(1, kBothWays, true);
    const double likely = std::pow(0.9, n);
    const double unlikely = std::pow(0.1, n);
    const Belief belief = beliefs.posterior(1, notes);
    CHECK(belief[3] == doctest::Approx(likely / (likely + 3 * unlikely)));
    CHECK(belief[0] == doctest::Approx(unlikely / (likely + 3 * unlikely)));
  }
  CHECK(beliefs.posterior(0, notes) == Belief{0.25, 0.25, 0.25, 0.25});  // of whom nothing is known
}

TEST_CASE("an answer and its opposite leave the belief as it was") {
  const SharedBeliefs beliefs = beliefs_of(1, AnswerModel("noisy", 0.1));
  Notes notes(1, 0);
  notes.add(0, kLater, true);
  const Belief once = beliefs.posterior(0, notes);
  CHECK(once[0] == doctest::Approx(0.45));  // later and both allow it, 9 to 1
  CHECK(once[3] == doctest::Approx(0.45));
  CHECK(once[1] == doctest::Approx(0.05));
  notes.add(0, kLater, false);
  for (const double p : beliefs.posterior(0, notes)) { CHECK(p == doctest::Approx(0.25)); }
}

TEST_CASE("what was merged and what was noted since are one body of evidence") {
  const AnswerModel logit("logit");
  SharedBeliefs shared = beliefs_of(3, logit);
  const SharedBeliefs fresh = beliefs_of(3, logit);
  std::vector<Notes> envs(2, Notes(3, 0));
  Notes all(3, 0);
  Random random(5);
  const auto observe = [&](Notes& notes) {
    const std::size_t customer = random.below(3);
    const std::size_t offer = random.below(kNumOffers);
    const bool taken = random.below(2) == 0;
    notes.add(customer, offer, taken);
    all.add(customer, offer, taken);
  };
  for (int i = 0; i < 20; ++i) { observe(envs[i % 2]); }
  merge_all(shared, envs);
  for (int i = 0; i < 10; ++i) { observe(envs[0]); }
  for (std::size_t customer = 0; customer < 3; ++customer) {
    const Belief expected = fresh.posterior(customer, all);
    const Belief found = shared.posterior(customer, envs[0]);
    for (std::size_t type = 0; type < kNumTypes; ++type) {
      CHECK(found[type] == doctest::Approx(expected[type]));
    }
  }
}

TEST_CASE("to change nothing is a step, and tells nothing") {
  Notes notes(1, 4);
  notes.add(0, kNoChange, true);
  CHECK(notes.steps == 1);
  CHECK(notes.samples.empty());
  CHECK(beliefs_of(1, AnswerModel("noisy", 0.1)).posterior(0, notes) ==
        Belief{0.25, 0.25, 0.25, 0.25});
}

TEST_CASE("merging clears the notes, and a merge of nothing changes nothing") {
  SharedBeliefs beliefs = beliefs_of(1, AnswerModel("noisy", 0.1));
  std::vector<Notes> notes(1, Notes(1, 4));
  notes[0].add(0, kEarlier, true);
  notes[0].days = 1;
  merge_all(beliefs, notes);
  CHECK(notes[0].steps == 0);
  CHECK(notes[0].days == 0);
  CHECK(notes[0].samples.empty());
  CHECK(notes[0].counts[0][kEarlier][1] == 0);
  const Belief before = beliefs.posterior(0, notes[0]);
  CHECK(before[1] == doctest::Approx(0.45));
  merge_all(beliefs, notes);
  CHECK(beliefs.posterior(0, notes[0]) == before);
}

TEST_CASE("exploring falls by its decay per day of every env, down to the floor") {
  const SharedBeliefs::Options options{
      .num_customers = 1, .epsilon = 0.4, .epsilon_decay = 0.5, .epsilon_floor = 0.03};
  SharedBeliefs beliefs(options, AnswerModel());
  std::vector<Notes> notes(3, Notes(1, 0));
  CHECK(beliefs.epsilon(notes[0]) == doctest::Approx(0.4));
  notes[0].days = 1;  // an env's own day counts at once
  CHECK(beliefs.epsilon(notes[0]) == doctest::Approx(0.2));
  CHECK(beliefs.epsilon(notes[1]) == doctest::Approx(0.4));
  notes[1].days = 2;
  notes[2].days = 3;
  merge_all(beliefs, notes);  // six days of three envs are two epochs
  CHECK(beliefs.epsilon(notes[0]) == doctest::Approx(0.1));
  notes[0].days = 10;
  CHECK(beliefs.epsilon(notes[0]) == doctest::Approx(0.03));
}

TEST_CASE("of other people nothing is known, and late notes of the old ones are dropped") {
  SharedBeliefs beliefs = beliefs_of(1, AnswerModel("noisy", 0.1));
  std::vector<Notes> notes(2, Notes(1, 0));
  notes[0].add(0, kLater, true);
  merge_all(beliefs, notes);
  CHECK(beliefs.posterior(0, notes[0])[0] == doctest::Approx(0.45));

  notes[1].begin_generation(1);
  CHECK(beliefs.posterior(0, notes[1])[0] == doctest::Approx(0.25));  // not prejudiced
  notes[1].add(0, kEarlier, true);
  notes[0].add(0, kLater, true);  // still of the old people
  merge_all(beliefs, notes);
  CHECK(beliefs.posterior(0, notes[1])[1] == doctest::Approx(0.45));
  CHECK(beliefs.posterior(0, notes[1])[0] == doctest::Approx(0.05));
  CHECK(notes[0].generation == 0);
  CHECK(beliefs.posterior(0, notes[0])[0] == doctest::Approx(0.25));
}

TEST_CASE("notes keep the newest samples") {
  Notes notes(9, 3);
  for (std::size_t customer = 0; customer < 5; ++customer) {
    notes.add(customer, kLater, customer % 2 == 0);
  }
  REQUIRE(notes.samples.size() == 3);
  std::vector<int> kept;
  for (const AnswerSample& sample : notes.samples) {
    kept.push_back(sample.customer);
    CHECK(sample.taken == (sample.customer % 2 == 0 ? 1 : 0));
  }
  std::ranges::sort(kept);
  CHECK(kept == std::vector<int>{2, 3, 4});
  CHECK(notes.samples[notes.next_sample].customer == 2);  // the oldest is overwritten next
  CHECK(notes.counts[0][kLater][1] == 1);                 // counts forget nothing
}

TEST_CASE("loaded notes must be about these customers") {
  Notes notes(3, 2);
  notes.add(2, kLater, true);
  CHECK(notes.fits(3));
  CHECK_FALSE(notes.fits(4));
  notes.samples[0].customer = 3;
  CHECK_FALSE(notes.fits(3));
  notes.samples[0] = {.customer = 1, .offer = 16, .taken = 1};
  CHECK_FALSE(notes.fits(3));
  notes.samples[0].offer = 15;
  notes.next_sample = 1;  // past the only sample
  CHECK_FALSE(notes.fits(3));
  notes.next_sample = 0;
  notes.samples.resize(3);
  CHECK_FALSE(notes.fits(3));  // more than these notes would keep
}

TEST_CASE("two answers of everybody are worth an accuracy of one, none of a quarter") {
  constexpr std::size_t kCustomers = 200;
  const AnswerModel rule;
  SharedBeliefs beliefs({.num_customers = kCustomers, .people = 7}, rule);
  // Nothing known: everybody is taken for the first type.
  std::vector<Flexibility> types(kCustomers);
  draw_types(7, 0, types);
  const auto later = std::ranges::count(types, Flexibility::later);
  CHECK(metric_of(beliefs, "beliefs/bayes_accuracy") ==
        doctest::Approx(static_cast<double>(later) / kCustomers));
  CHECK(later > 30);
  CHECK(later < 70);
  std::vector<Notes> notes(1, Notes(kCustomers, 0));
  for (std::size_t c = 0; c < kCustomers; ++c) {
    for (const std::size_t offer : {kEarlier, kLater}) {
      notes[0].add(c, offer, allows(types[c], offer));
    }
  }
  merge_all(beliefs, notes);
  CHECK(metric_of(beliefs, "beliefs/bayes_accuracy") == 1);
  CHECK(metric_of(beliefs, "embedding/accuracy") == -1);  // without an embedding it is not told
}

TEST_CASE("people are the same for whoever asks, and others in another generation") {
  std::vector<Flexibility> few(10);
  std::vector<Flexibility> many(500);
  draw_types(3, 0, few);
  draw_types(3, 0, many);
  CHECK(std::ranges::equal(few, std::span(many).first(10)));
  for (std::size_t type = 0; type < kNumTypes; ++type) {
    CHECK(std::ranges::count(many, static_cast<Flexibility>(type)) > 90);  // of 125
  }
  std::vector<Flexibility> others(500);
  draw_types(3, 1, others);
  CHECK(others != many);
  draw_types(4, 0, others);
  CHECK(others != many);
}

TEST_CASE("beliefs come back from their bytes; other bytes are refused") {
  SharedBeliefs beliefs = beliefs_of(2, AnswerModel("noisy", 0.1));
  std::vector<Notes> notes(1, Notes(2, 0));
  notes[0].begin_generation(4);
  notes[0].add(0, kLater, true);
  notes[0].days = 3;
  merge_all(beliefs, notes);
  const std::vector<std::byte> bytes = saved(beliefs);

  SharedBeliefs copy = beliefs_of(2, AnswerModel("noisy", 0.1));
  copy.load(bytes);
  CHECK(copy.posterior(0, notes[0]) == beliefs.posterior(0, notes[0]));
  CHECK(copy.epsilon(notes[0]) == beliefs.epsilon(notes[0]));
  CHECK(saved(copy) == bytes);

  SharedBeliefs three = beliefs_of(3, AnswerModel());
  CHECK_THROWS_WITH_AS(three.load(bytes), doctest::Contains("another number of customers"),
                       DataError);
  std::vector<std::byte> longer = bytes;
  longer.push_back({});
  CHECK_THROWS_WITH_AS(copy.load(longer), doctest::Contains("more bytes"), DataError);
  CHECK_THROWS_AS(copy.load(std::span(bytes).first(bytes.size() - 1)), DataError);
}

}  // namespace penstock::booking
