#include "penstock/core/contract/contract.h"

#include <algorithm>
#include <array>
#include <exception>

#include "core/contract/checks.h"

namespace penstock {
namespace {

struct Check {
  const char* promise;
  void (*run)(const contract::Trial& trial);
};

constexpr std::array kChecks = {
    Check{"the catalog's line has a name and a doc line", contract::check_entry},
    Check{"the parts of the layout tile the row", contract::check_layout},
    Check{"actions can be drawn", contract::check_actions},
    Check{"rows and rewards are finite", contract::check_finite},
    Check{"every choice has a legal alternative", contract::check_legal},
    Check{"places and names exist", contract::check_names},
    Check{"episodes end", contract::check_some_end},
    Check{"no episode is longer than max_episode_steps", contract::check_limit},
    Check{"an end reports the sums seen", contract::check_sums},
    Check{"final_obs is written at ends, and only there", contract::check_final_obs},
    Check{"env.max_steps sets the limit", contract::check_max_steps_key},
    Check{"the same seed gives the same bytes", contract::check_same_seed},
    Check{"another seed gives other bytes", contract::check_other_seed},
    Check{"a loaded env saves the same bytes", contract::check_saved_again},
    Check{"an env saved in mid-episode goes on identically elsewhere", contract::check_goes_on},
    Check{"bytes too short or too long are refused", contract::check_bad_bytes},
    Check{"ranges do not matter", contract::check_ranges},
    Check{"an env is the same in a slice of the run", contract::check_slices},
    Check{"threads do not matter", contract::check_threads},
};

Promise tried(const Check& check, const contract::Trial& trial) {
  try {
    check.run(trial);
  } catch (const contract::Broken& broken) {
    return {check.promise, broken.what()};
  } catch (const std::exception& error) {
    return {check.promise, std::string("the env threw: ") + error.what()};
  }
  return {check.promise, ""};
}

}  // namespace

std::vector<Promise> check_contract(const EnvEntry& entry, const ContractOptions& options) {
  const auto factory = entry.make_factory();
  const contract::Trial trial{entry, *factory, options};
  std::vector<Promise> promises;
  for (const Check& check : kChecks) {
    if (check.run == contract::check_other_seed && options.seedless) { continue; }
    promises.push_back(tried(check, trial));
  }
  return promises;
}

std::string broken_promises(const std::vector<Promise>& promises) {
  std::string lines;
  for (const Promise& promise : promises) {
    if (!promise.kept()) { lines += promise.text + ": " + promise.broken + "\n"; }
  }
  return lines;
}

}  // namespace penstock

namespace penstock::contract {

std::int64_t Trial::num_steps() const {
  return std::min(std::max<std::int64_t>(factory.spec().max_episode_steps + 100, 400),
                  options.max_steps);
}

std::string place(const Driver& driver, std::size_t env, std::int64_t step) {
  return "env " + std::to_string(env) + ", seed " + std::to_string(driver.seed()) + ", step " +
         std::to_string(step) + ": ";
}

}  // namespace penstock::contract
