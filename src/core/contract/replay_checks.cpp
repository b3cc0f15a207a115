#include <algorithm>
#include <array>

#include "core/contract/checks.h"
#include "penstock/core/base/errors.h"

namespace penstock::contract {
namespace {

constexpr int kSaveAt = 37;

void plain_step(Driver& driver) { driver.step(); }

void check_equal(const Driver& left, const Driver& right, std::int64_t step) {
  if (left.bytes() == right.bytes()) { return; }
  for (std::size_t env = 0; env < left.num_envs(); ++env) {
    require(left.bytes(env) == right.bytes(env),
            place(left, env, step) + "what was written differs for the first time");
  }
}

/// Compares step by step, so that a failure names the first step that differs.
template <class StepRight>
void check_same(const Trial& trial, Driver& left, Driver& right, StepRight step_right) {
  const std::int64_t steps = trial.num_steps();
  for (std::int64_t t = 1; t <= steps; ++t) {
    left.step();
    step_right(right);
    check_equal(left, right, t);
  }
}

bool refuses(VecEnv& env, std::span<const std::byte> bytes) {
  try {
    env.load(0, bytes);
  } catch (const DataError&) { return true; }
  return false;
}

/// What a fresh batch writes, stepped as usual and stepped another way.
template <class StepOther>
void check_other_way(const Trial& trial, StepOther step) {
  Driver whole = trial.driver();
  Driver other = trial.driver();
  whole.reset();
  other.reset();
  check_equal(whole, other, 0);
  check_same(trial, whole, other, step);
}

Driver in_mid_episode(const Trial& trial) {
  Driver driver = trial.driver();
  driver.reset();
  for (int t = 0; t < kSaveAt; ++t) { driver.step(); }
  return driver;
}

}  // namespace

void check_same_seed(const Trial& trial) { check_other_way(trial, plain_step); }

void check_other_seed(const Trial& trial) {
  constexpr int kSteps = 100;
  Driver driver = trial.driver();
  Driver other(trial.factory, {.first = 0, .count = Trial::kNumEnvs}, trial.options.seed + 1);
  driver.reset();
  other.reset();
  bool differs = false;
  for (int t = 0; t < kSteps && !differs; ++t) {
    driver.step();
    other.step();
    differs = driver.bytes() != other.bytes();
  }
  require(differs, "seeds " + std::to_string(driver.seed()) + " and " +
                       std::to_string(other.seed()) + " gave the same " + std::to_string(kSteps) +
                       " steps; ContractOptions::seedless allows it");
}

void check_saved_again(const Trial& trial) {
  Driver original = in_mid_episode(trial);
  Driver copy = trial.driver();
  for (std::size_t env = 0; env < copy.num_envs(); ++env) {
    std::vector<std::byte> bytes;
    original.env().save(env, bytes);
    copy.env().load(env, bytes);
    std::vector<std::byte> again;
    copy.env().save(env, again);
    require(again == bytes, place(original, env, kSaveAt) + "it saves other bytes than it loaded");
  }
}

void check_goes_on(const Trial& trial) {
  Driver original = in_mid_episode(trial);
  Driver copy = trial.driver();
  for (std::size_t env = 0; env < copy.num_envs(); ++env) {
    std::vector<std::byte> bytes;
    original.env().save(env, bytes);
    copy.env().load(env, bytes);
  }
  copy.take_rows(original);
  check_same(trial, original, copy, plain_step);
}

void check_bad_bytes(const Trial& trial) {
  Driver driver(trial.factory, {.first = 0, .count = 1}, trial.options.seed);
  driver.reset();
  driver.step();
  std::vector<std::byte> bytes;
  driver.env().save(0, bytes);
  const std::string whole = " of " + std::to_string(bytes.size()) + " bytes are taken";
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    require(refuses(driver.env(), std::span(bytes).first(size)), std::to_string(size) + whole);
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  require(refuses(driver.env(), longer), std::to_string(longer.size()) + " instead" + whole);
  require(!refuses(driver.env(), bytes), "its own bytes are refused");
}

void check_ranges(const Trial& trial) {
  const std::array<EnvRange, 3> backwards = {EnvRange{3, 7}, EnvRange{1, 3}, EnvRange{0, 1}};
  check_other_way(trial, [&](Driver& driver) { driver.step(backwards); });
}

void check_slices(const Trial& trial) {
  constexpr std::size_t kFirst = 2;
  const std::size_t count = Trial::kNumEnvs - kFirst;
  Driver whole = trial.driver();
  Driver part(trial.factory, {.first = kFirst, .count = count}, trial.options.seed);
  const auto check = [&](std::int64_t step) {
    for (std::size_t env = 0; env < count; ++env) {
      require(whole.bytes(kFirst + env) == part.bytes(env),
              place(whole, kFirst + env, step) + "it is another env when it is made as number " +
                  std::to_string(env) + " of a slice; EnvSlice::first counts");
    }
  };
  whole.reset();
  part.reset();
  check(0);
  const std::int64_t steps = trial.num_steps();
  for (std::int64_t t = 1; t <= steps; ++t) {
    whole.step();
    part.step();
    check(t);
  }
}

void check_threads(const Trial& trial) {
  const std::array<EnvRange, 4> ranges = {EnvRange{0, 2}, EnvRange{2, 3}, EnvRange{3, 5},
                                          EnvRange{5, 7}};
  for (const std::size_t num_threads : trial.options.num_threads) {
    ThreadPool pool({.num_threads = num_threads});
    try {
      check_other_way(trial, [&](Driver& driver) { driver.step(ranges, pool); });
    } catch (const Broken& broken) {
      throw Broken(std::to_string(num_threads) + " threads: " + broken.what());
    }
  }
}

}  // namespace penstock::contract
