#include <algorithm>
#include <array>
#include <cmath>

#include "core/contract/checks.h"

namespace penstock::contract {
namespace {

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

bool all_poison(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isnan(x); });
}

std::span<const float> row_of(const Driver& driver, const std::vector<float>& rows,
                              std::size_t env) {
  const std::size_t size = driver.spec().obs.size();
  return std::span(rows).subspan(env * size, size);
}

/// Calls look(driver, env, step) for every env after the reset, step 0, and after every step.
template <class Look>
void play(const Trial& trial, Look look) {
  Driver driver = trial.driver();
  driver.reset();
  const std::int64_t steps = trial.num_steps();
  for (std::int64_t t = 0; t <= steps; ++t) {
    if (t > 0) { driver.step(); }
    for (std::size_t env = 0; env < driver.num_envs(); ++env) { look(driver, env, t); }
  }
}

/// The same without the reset, with the length of the episode that the step belongs to.
template <class Look>
void play_episodes(const Trial& trial, Look look) {
  std::array<std::int64_t, Trial::kNumEnvs> length{};
  play(trial, [&](const Driver& driver, std::size_t env, std::int64_t step) {
    if (step == 0) { return; }
    look(driver, env, step, ++length[env]);
    if (driver.ended(env)) { length[env] = 0; }
  });
}

/// A whole number below the limit, or -1.
void check_name(float x, std::size_t limit, const std::string& where, const Part& part) {
  const bool good = x == -1 || (x >= 0 && x < limit && x == std::floor(x));
  require(good, where + "part " + part.name + " holds " + std::to_string(x) +
                    ", expected a whole number below " + std::to_string(limit) + " or -1");
}

void check_part(const Part& part, std::span<const float> floats, const std::string& where) {
  for (std::size_t k = 0; part.counts && k < part.size; ++k) {
    check_name(floats[k], part.num_features, where, part);
  }
  for (const Lookup& lookup : part.lookups) {
    const std::size_t width = part.shape.back();
    for (std::size_t k = lookup.column; k < part.size; k += width) {
      check_name(floats[k], lookup.num_names, where, part);
    }
  }
}

std::int64_t count_ends(const Trial& trial) {
  std::int64_t ends = 0;
  play_episodes(trial, [&](const Driver& driver, std::size_t env, auto, auto) {
    ends += driver.ended(env) ? 1 : 0;
  });
  return ends;
}

}  // namespace

void check_finite(const Trial& trial) {
  play(trial, [](const Driver& driver, std::size_t env, std::int64_t step) {
    require(all_finite(row_of(driver, driver.obs, env)),
            place(driver, env, step) + "the row is not finite, or not written");
    require(step == 0 || std::isfinite(driver.reward[env]),
            place(driver, env, step) + "the reward is " + std::to_string(driver.reward[env]));
  });
}

void check_legal(const Trial& trial) {
  if (!trial.factory.spec().action.masked()) { return; }
  play(trial, [](const Driver& driver, std::size_t env, std::int64_t step) {
    const ActionSpec& action = driver.spec().action;
    auto mask = driver.legal.span().subspan(env * action.num_actions(), action.num_actions());
    for (const std::int64_t n : action.choices()) {
      const auto choice = mask.first(n);
      require(std::ranges::count(choice, true) > 0,
              place(driver, env, step) + "a choice without a legal alternative");
      mask = mask.subspan(choice.size());
    }
  });
}

void check_names(const Trial& trial) {
  if (std::ranges::count(trial.factory.spec().obs.names(), true) == 0) { return; }
  play(trial, [](const Driver& driver, std::size_t env, std::int64_t step) {
    const auto row = row_of(driver, driver.obs, env);
    for (const Part& part : driver.spec().obs.parts()) {
      if (!part.counts && part.lookups.empty()) { continue; }
      check_part(part, row.subspan(part.offset, part.size), place(driver, env, step));
    }
  });
}

void check_some_end(const Trial& trial) {
  require(count_ends(trial) > 0, "no episode ended in " + std::to_string(trial.num_steps()) +
                                     " steps; ContractOptions::max_steps allows more");
}

void check_limit(const Trial& trial) {
  const std::int64_t limit = trial.factory.spec().max_episode_steps;
  if (limit == 0) { return; }
  play_episodes(trial, [limit](const Driver& driver, std::size_t env, auto step, auto length) {
    require(length < limit || driver.ended(env), place(driver, env, step) +
                                                     "the episode goes on after its " +
                                                     std::to_string(length) + " steps");
  });
}

void check_sums(const Trial& trial) {
  std::array<double, Trial::kNumEnvs> total{};
  play_episodes(trial, [&](const Driver& driver, std::size_t env, auto step, auto length) {
    total[env] += driver.reward[env];
    if (!driver.ended(env)) { return; }
    const EpisodeEnd& end = driver.episode[env];
    require(end.length == length, place(driver, env, step) + "the end reports " +
                                      std::to_string(end.length) + " steps, seen were " +
                                      std::to_string(length));
    require(end.total_reward == total[env],
            place(driver, env, step) + "the end reports " + std::to_string(end.total_reward) +
                " of reward, seen were " + std::to_string(total[env]));
    total[env] = 0;
  });
}

void check_final_obs(const Trial& trial) {
  play_episodes(trial, [](const Driver& driver, std::size_t env, auto step, auto) {
    const auto row = row_of(driver, driver.final_obs, env);
    if (driver.ended(env)) {
      require(all_finite(row),
              place(driver, env, step) +
                  "final_obs is not finite, or not written, though the episode ended");
    } else {
      require(all_poison(row),
              place(driver, env, step) + "final_obs is written, though the episode goes on");
    }
  });
}

/// Envs with a key env.max_steps are cut off there, whatever it is.
void check_max_steps_key(const Trial& trial) {
  const auto factory = trial.entry.make_factory();
  for (Field& field : factory->fields()) {
    if (field.path != "env.max_steps") { continue; }
    *std::get<std::int64_t*>(field.target) = 3;
    const Trial shortened{trial.entry, *factory, trial.options};
    require(factory->spec().max_episode_steps == 3, "spec() does not know of it");
    check_limit(shortened);
    check_sums(shortened);
    check_final_obs(shortened);
    const std::int64_t least = Trial::kNumEnvs * (shortened.num_steps() / 3);
    require(count_ends(shortened) >= least, "fewer ends than steps allow");
  }
}

}  // namespace penstock::contract
