#include "contract/contract.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "contract/driver.h"
#include "penstock/base/errors.h"

namespace penstock {
namespace {

constexpr std::size_t kNumEnvs = 7;
constexpr std::uint64_t kSeed = 5;
constexpr int kSaveAt = 37;

/// Long enough to see an episode end by the limit, and never fewer than 400.
int num_steps(const EnvSpec& spec) {
  return static_cast<int>(std::clamp<std::int64_t>(spec.max_episode_steps + 100, 400, 2000));
}

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

bool all_poison(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isnan(x); });
}

/// Compares step by step, so that a failure names the first step that differs.
template <class StepLeft, class StepRight>
void check_same(Driver& left, Driver& right, int steps, StepLeft step_left, StepRight step_right) {
  for (int t = 0; t < steps; ++t) {
    step_left(left);
    step_right(right);
    if (left.bytes() != right.bytes()) {
      FAIL_CHECK("the first difference is at step ", t);
      return;
    }
  }
}

void plain_step(Driver& driver) { driver.step(); }

void check_layout(const EnvSpec& spec) {
  std::size_t offset = 0;
  std::size_t feature = 0;
  for (const Part& part : spec.obs.parts()) {
    CHECK_MESSAGE(part.offset == offset, "part ", part.name);
    CHECK_MESSAGE(part.first_feature == feature, "part ", part.name);
    CHECK(&spec.obs.part(part.name) == &part);  // the name is unique
    offset += part.size;
    feature += part.num_features;
  }
  CHECK(offset == spec.obs.size());
  CHECK(feature == spec.obs.num_features());
  CHECK(offset > 0);
}

void check_actions(const ActionSpec& action) {
  CHECK(action.dims() > 0);
  if (!action.continuous()) { return; }
  CHECK_FALSE(action.masked());
  for (std::size_t d = 0; d < action.dims(); ++d) {
    CHECK(action.box().low[d] < action.box().high[d]);
    CHECK(std::isfinite(action.box().high[d] - action.box().low[d]));
  }
}

void check_legal(const Driver& driver) {
  if (!driver.spec().action.masked()) { return; }
  auto mask = driver.legal.span().begin();
  for (std::size_t i = 0; i < driver.num_envs(); ++i) {
    for (const std::int64_t n : driver.spec().action.choices()) {
      const bool any = std::any_of(mask, mask + n, [](bool legal) { return legal; });
      if (!any) { FAIL_CHECK("env ", i, " has a choice without a legal alternative"); }
      mask += n;
    }
  }
}

/// Places and names are whole numbers that exist, or -1.
void check_names(const Driver& driver) {
  const Layout& layout = driver.spec().obs;
  const auto check = [](float x, std::size_t limit, const Part& part) {
    const bool good = x == -1 || (x >= 0 && x < static_cast<float>(limit) && x == std::floor(x));
    if (!good) { FAIL_CHECK("part ", part.name, " holds ", x); }
  };
  for (std::size_t i = 0; i < driver.num_envs(); ++i) {
    const auto row = std::span(driver.obs).subspan(i * layout.size(), layout.size());
    for (const Part& part : layout.parts()) {
      const auto floats = row.subspan(part.offset, part.size);
      for (std::size_t k = 0; part.counts && k < part.size; ++k) {
        check(floats[k], part.num_features, part);
      }
      for (const Lookup& lookup : part.lookups) {
        const auto width = static_cast<std::size_t>(part.shape.back());
        for (std::size_t k = lookup.column; k < part.size; k += width) {
          check(floats[k], static_cast<std::size_t>(lookup.num_names), part);
        }
      }
    }
  }
}

void check_rows(const EnvFactory& factory) {
  Driver driver(factory, kNumEnvs, kSeed);
  driver.reset();
  CHECK(all_finite(driver.obs));
  check_legal(driver);
  for (int t = 0; t < num_steps(driver.spec()); ++t) {
    driver.step();
    INFO("step ", t);
    REQUIRE(all_finite(driver.obs));
    REQUIRE(all_finite(driver.reward));
    check_legal(driver);
    check_names(driver);
  }
}

/// What one env's episode has brought so far, counted from the outside.
struct Seen {
  double total_reward = 0;
  std::int64_t length = 0;
};

void check_end(const Driver& driver, std::size_t i, Seen& seen) {
  const std::size_t features = driver.spec().obs.size();
  const auto final_row = std::span(driver.final_obs).subspan(i * features, features);
  seen.total_reward += driver.reward[i];
  ++seen.length;
  if (!driver.ended(i)) {
    CHECK(all_poison(final_row));
    return;
  }
  CHECK(all_finite(final_row));
  CHECK(driver.episode[i].length == seen.length);
  CHECK(driver.episode[i].total_reward == seen.total_reward);
  seen = {};
}

/// Returns the number of ends seen.
int check_ends(const EnvFactory& factory) {
  Driver driver(factory, kNumEnvs, kSeed);
  const std::int64_t limit = driver.spec().max_episode_steps;
  std::array<Seen, kNumEnvs> seen{};
  int ends = 0;
  driver.reset();
  for (int t = 0; t < num_steps(driver.spec()); ++t) {
    driver.step();
    for (std::size_t i = 0; i < kNumEnvs; ++i) {
      const bool at_limit = limit > 0 && seen[i].length + 1 == limit;
      if (at_limit) { CHECK(driver.ended(i)); }
      ends += driver.ended(i);
      check_end(driver, i, seen[i]);
    }
  }
  return ends;
}

/// Envs with a key env.max_steps are cut off there, whatever it is.
void check_limit(const EnvEntry& entry) {
  const auto factory = entry.make_factory();
  for (Field& field : factory->fields()) {
    if (field.path != "env.max_steps") { continue; }
    *std::get<std::int64_t*>(field.target) = 3;
    CHECK(factory->spec().max_episode_steps == 3);
    CHECK(check_ends(*factory) >= static_cast<int>(kNumEnvs) * (400 / 3));
  }
}

void check_seeds(const EnvFactory& factory) {
  Driver first(factory, kNumEnvs, kSeed);
  Driver again(factory, kNumEnvs, kSeed);
  Driver other(factory, kNumEnvs, kSeed + 1);
  for (Driver* driver : {&first, &again, &other}) { driver->reset(); }
  CHECK(first.bytes() == again.bytes());
  check_same(first, again, num_steps(first.spec()), plain_step, plain_step);

  bool differs = false;
  Driver fresh(factory, kNumEnvs, kSeed);
  fresh.reset();
  for (int t = 0; t < 100 && !differs; ++t) {
    fresh.step();
    other.step();
    differs = fresh.bytes() != other.bytes();
  }
  CHECK_MESSAGE(differs, "another seed gave the same 100 steps");
}

void check_save_load(const EnvFactory& factory) {
  Driver original(factory, kNumEnvs, kSeed);
  original.reset();
  for (int t = 0; t < kSaveAt; ++t) { original.step(); }

  Driver copy(factory, kNumEnvs, kSeed);
  for (std::size_t i = 0; i < kNumEnvs; ++i) {
    std::vector<std::byte> bytes;
    original.env().save(i, bytes);
    copy.env().load(i, bytes);
    std::vector<std::byte> again;
    copy.env().save(i, again);
    CHECK(again == bytes);
  }
  copy.take_rows(original);
  check_same(original, copy, num_steps(original.spec()), plain_step, plain_step);
}

void check_bad_bytes(const EnvFactory& factory) {
  Driver driver(factory, 1, kSeed);
  driver.reset();
  driver.step();
  std::vector<std::byte> bytes;
  driver.env().save(0, bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_THROWS_AS(driver.env().load(0, std::span(bytes).first(size)), DataError);
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  CHECK_THROWS_AS(driver.env().load(0, longer), DataError);
  CHECK_NOTHROW(driver.env().load(0, bytes));
}

void check_ranges(const EnvFactory& factory) {
  const std::array<EnvRange, 3> backwards = {EnvRange{3, 7}, EnvRange{1, 3}, EnvRange{0, 1}};
  Driver whole(factory, kNumEnvs, kSeed);
  Driver split(factory, kNumEnvs, kSeed);
  whole.reset();
  split.reset();
  check_same(whole, split, num_steps(whole.spec()), plain_step,
             [&](Driver& driver) { driver.step(backwards); });
}

void check_threads(const EnvFactory& factory, std::size_t num_threads) {
  const std::array<EnvRange, 4> ranges = {EnvRange{0, 2}, EnvRange{2, 3}, EnvRange{3, 5},
                                          EnvRange{5, 7}};
  ThreadPool pool({.num_threads = num_threads});
  Driver whole(factory, kNumEnvs, kSeed);
  Driver split(factory, kNumEnvs, kSeed);
  whole.reset();
  split.reset();
  check_same(whole, split, num_steps(whole.spec()), plain_step,
             [&](Driver& driver) { driver.step(ranges, pool); });
}

}  // namespace

void check_contract(const EnvEntry& entry) {
  INFO("env: ", entry.name);
  CHECK_FALSE(entry.name.empty());
  CHECK_FALSE(entry.doc.empty());
  const auto factory = entry.make_factory();
  check_layout(factory->spec());
  check_actions(factory->spec().action);
  check_rows(*factory);
  CHECK_MESSAGE(check_ends(*factory) > 0, "no episode ended");
  check_limit(entry);
  check_seeds(*factory);
  check_save_load(*factory);
  check_bad_bytes(*factory);
  check_ranges(*factory);
  for (const std::size_t num_threads : {1, 2, 4}) {
    INFO("threads: ", num_threads);
    check_threads(*factory, num_threads);
  }
}

}  // namespace penstock
