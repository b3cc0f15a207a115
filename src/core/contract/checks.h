#pragma once
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "core/contract/driver.h"
#include "penstock/core/contract/contract.h"

namespace penstock::contract {

/// A promise was not kept; what() says where.
class Broken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void require(bool holds, const std::string& what) {
  if (!holds) { throw Broken(what); }
}

/// The env under trial.
struct Trial {
  const EnvEntry& entry;
  const EnvFactory& factory;
  const ContractOptions& options;

  /// Long enough to see an episode end by the limit, and not fewer than 400, where allowed.
  [[nodiscard]] std::int64_t num_steps() const;
  [[nodiscard]] Driver driver() const {
    return {factory, {.first = 0, .count = kNumEnvs}, options.seed};
  }

  static constexpr std::size_t kNumEnvs = 7;
};

/// "env 3, seed 5, step 12: ", with steps counted from 1; step 0 is the reset.
std::string place(const Driver& driver, std::size_t env, std::int64_t step);

/// Each throws Broken at the first place where its promise is not kept.
void check_entry(const Trial& trial);
void check_layout(const Trial& trial);
void check_actions(const Trial& trial);

void check_finite(const Trial& trial);
void check_legal(const Trial& trial);
void check_names(const Trial& trial);
void check_some_end(const Trial& trial);
void check_limit(const Trial& trial);
void check_sums(const Trial& trial);
void check_final_obs(const Trial& trial);
void check_max_steps_key(const Trial& trial);

void check_same_seed(const Trial& trial);
void check_other_seed(const Trial& trial);
void check_saved_again(const Trial& trial);
void check_goes_on(const Trial& trial);
void check_bad_bytes(const Trial& trial);
void check_ranges(const Trial& trial);
void check_slices(const Trial& trial);
void check_threads(const Trial& trial);

}  // namespace penstock::contract
