#include "core/train/tuner.h"

#include <doctest/doctest.h>

#include <map>

using penstock::Tuner;

namespace {

/// Runs until a choice is made; each candidate takes as long as the table says.
std::size_t chosen(Tuner& tuner, const std::map<std::size_t, double>& seconds) {
  for (int i = 0; i < 1000; ++i) {
    if (tuner.record(seconds.at(tuner.current()))) { return tuner.current(); }
  }
  FAIL("no choice");
  return 0;
}

}  // namespace

TEST_CASE("the clearly faster candidate is chosen, and kept") {
  Tuner tuner({1, 2, 4});
  CHECK(chosen(tuner, {{1, 0.10}, {2, 0.06}, {4, 0.09}}) == 2);
  CHECK(tuner.medians() == std::vector<double>{0.10, 0.06, 0.09});
  for (int i = 0; i < 100; ++i) {
    CHECK(!tuner.record(0.06));
    CHECK(tuner.current() == 2);
  }
}

TEST_CASE("a hair's breadth is not worth another thread") {
  Tuner tuner({1, 2});
  CHECK(chosen(tuner, {{1, 0.100}, {2, 0.098}}) == 1);
}

TEST_CASE("one slow iteration does not decide") {
  Tuner tuner({1, 2});
  tuner.record(9);  // the first one pays for first uses
  const double seconds[] = {0.10, 0.06, 0.10, 5.00, 0.10, 0.06};
  bool made = false;
  for (const double s : seconds) { made = tuner.record(s); }
  CHECK(made);
  CHECK(tuner.current() == 2);
}

TEST_CASE("what waking threads costs does not count where iterations are short") {
  Tuner tuner({1, 2});
  std::size_t before = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::size_t now = tuner.current();
    const double waking = now == before ? 0 : 0.004;
    before = now;
    if (tuner.record((now == 2 ? 0.0012 : 0.0020) + waking)) { break; }
  }
  CHECK(tuner.current() == 2);
  CHECK(tuner.medians().at(0) == doctest::Approx(0.0020));
  CHECK(tuner.medians().at(1) == doctest::Approx(0.0012));
}

TEST_CASE("a choice comes after a known number of iterations, however short they are") {
  Tuner tuner({1, 2});
  int count = 1;
  while (!tuner.record(1e-9) && count < 1000) { ++count; }
  CHECK(count == 1 + 3 * 2 * 17);
}

TEST_CASE("a machine that filled up changes the choice after a while") {
  Tuner tuner({1, 2});
  CHECK(chosen(tuner, {{1, 1.0}, {2, 0.6}}) == 2);
  CHECK(chosen(tuner, {{1, 1.0}, {2, 3.0}}) == 1);
}

TEST_CASE("more threads than cores are tried when the last candidate wins and idles") {
  const std::map<std::size_t, double> seconds = {{1, 1.0}, {2, 0.5}, {4, 0.25}, {8, 0.13}};
  const auto choice = [&](double busy) {
    Tuner tuner({1, 2}, {4, 8});
    for (int i = 0; i < 100; ++i) {
      if (tuner.record(seconds.at(tuner.current()), busy)) { return tuner.current(); }
    }
    return std::size_t{0};
  };
  CHECK(choice(0.02) == 8);
  CHECK(choice(0.9) == 2);
}

TEST_CASE("with one candidate there is nothing to choose") {
  Tuner tuner({1});
  for (int i = 0; i < 1000; ++i) { CHECK(!tuner.record(1)); }
  CHECK(tuner.current() == 1);
}
