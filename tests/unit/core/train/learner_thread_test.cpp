#include "core/train/learner_thread.h"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>

#include "penstock/core/env/spec.h"

using namespace penstock;

namespace {

Fragment tiny_fragment() { return {EnvSpec{Layout(1), Discrete{2}}, 2, 1}; }

Learnt update_told(double number) { return {.metrics = {{"number", number}}}; }

double number_of(const Learnt& learnt) { return learnt.metrics.at(0).second; }

}  // namespace

TEST_CASE("what is given is learnt in its order, each with its progress") {
  Fragment a = tiny_fragment();
  Fragment b = tiny_fragment();
  std::vector<Fragment*> seen;
  LearnerThread aside([&](Fragment& fragment, double progress) {
    seen.push_back(&fragment);
    return update_told(progress);
  });
  aside.give(a, 0.25);
  aside.give(b, 0.5);
  CHECK(aside.num_pending() == 2);
  CHECK(number_of(aside.take()) == 0.25);
  CHECK(aside.num_pending() == 1);
  aside.settle();
  CHECK(aside.ready().size() == 1);
  CHECK(seen == std::vector<Fragment*>{&a, &b});
  CHECK(number_of(aside.take()) == 0.5);
  CHECK(aside.num_pending() == 0);
}

TEST_CASE("the caller goes on while it learns") {
  Fragment a = tiny_fragment();
  std::atomic<bool> may{false};
  LearnerThread aside([&](Fragment&, double) {
    may.wait(false);
    return update_told(1);
  });
  aside.give(a, 0);
  CHECK(aside.num_pending() == 1);  // else this would hang
  may = true;
  may.notify_all();
  CHECK(number_of(aside.take()) == 1);
}

TEST_CASE("after a failure nothing more is learnt, and every call tells of it") {
  Fragment a = tiny_fragment();
  int calls = 0;
  LearnerThread aside([&](Fragment&, double progress) {
    ++calls;
    if (progress < 0.5) { return update_told(progress); }
    Learnt learnt;
    learnt.failure = std::make_exception_ptr(std::runtime_error("not finite"));
    return learnt;
  });
  aside.give(a, 0.25);
  aside.give(a, 0.75);
  aside.give(a, 0.25);
  CHECK_THROWS_WITH(aside.settle(), "not finite");
  CHECK(number_of(aside.take()) == 0.25);
  CHECK(aside.take().failure);
  CHECK(aside.take().failure);
  CHECK_THROWS_WITH(aside.settle(), "not finite");
  CHECK(calls == 2);
}

TEST_CASE("what was put back is taken first") {
  Fragment a = tiny_fragment();
  LearnerThread aside([](Fragment&, double progress) { return update_told(progress); });
  aside.put(update_told(7));
  aside.give(a, 0.5);
  CHECK(number_of(aside.take()) == 7);
  CHECK(number_of(aside.take()) == 0.5);
}

TEST_CASE("it ends with work still waiting") {
  Fragment a = tiny_fragment();
  std::atomic<int> calls{0};
  {
    LearnerThread aside([&](Fragment&, double) {
      ++calls;
      return update_told(1);
    });
    for (int i = 0; i < 100; ++i) { aside.give(a, 0); }
  }
  CHECK(calls <= 100);
}
