#pragma once
#include <cstdint>

#include "penstock/core/base/random.h"
#include "penstock/core/env/env.h"
#include "penstock/envs/classic/possible_state.h"

namespace penstock {

/// The legal actions change every step, about half of them at a time. The part "hint" marks two
/// actions, of which only one is legal: that one pays 1, other legal ones 0. The return of a policy
/// that always takes the legal marked action is max_steps.
///
/// An illegal action pays -1 and terminates; the episode's success is `no` then and `yes`
/// otherwise, so whoever sees EpisodeEnd sees that the mask was broken.
///
/// Decoys and masks are cheap hashes, so that rows of thousands of floats can be tested.
class MaskedEnv {
 public:
  /// The keys of `masked`.
  struct Config {
    std::int64_t num_features = 32;  // floats of a row, all parts together
    std::int64_t num_actions = 8;
    std::int64_t max_steps = 16;  // BatchedEnv truncates

    template <class Visitor>
    void fields(Visitor& visit) {
      visit("num_features", num_features, "floats in a row, at least num_actions + 2",
            Range{4, 1e7});
      visit("num_actions", num_actions, "actions, legal or not", Range{2, 1e6});
      visit("max_steps", max_steps, "steps after which an episode is cut off", Range{1, 1e9});
    }
  };

  /// Throws ConfigError when the row is too short for the hint.
  explicit MaskedEnv(const Config& config);

  /// Parts: "clock" {1}, "hint" {num_actions}, "decoys" {the rest}, which mean nothing.
  [[nodiscard]] EnvSpec spec() const;
  /// The seed decides all masks and hints of the episode.
  void reset(std::uint64_t seed, Row row);
  /// Any action may be given, an illegal or an impossible one too.
  Outcome step(std::int64_t action, Row row);

  /// In the row last written; false for what is not an action.
  [[nodiscard]] bool legal(std::int64_t action) const;
  /// The legal one of the marked actions, for tests.
  [[nodiscard]] std::int64_t answer() const { return answer_; }

  /// Loading throws DataError for numbers out of range.
  template <class Archive>
  void state(Archive& archive) {
    archive(random_, salt_, answer_, lure_, steps_);
    if constexpr (Archive::kLoads) {
      detail::require_possible(is_action(answer_) && is_action(lure_) && steps_ >= 0 &&
                               steps_ < config_.max_steps);
    }
  }

 private:
  [[nodiscard]] bool is_action(std::int64_t action) const {
    return action >= 0 && action < config_.num_actions;
  }
  void ask(Row row);

  Config config_;
  Random random_;
  std::uint32_t salt_ = 0;   // the legal actions and the decoys of this step follow from it
  std::int64_t answer_ = 0;  // marked and legal
  std::int64_t lure_ = 1;    // marked and illegal
  std::int64_t steps_ = 0;
};

}  // namespace penstock
