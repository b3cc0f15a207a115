#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "penstock/core/base/random.h"
#include "penstock/core/env/env.h"
#include "penstock/envs/classic/possible_state.h"

namespace penstock {

/// Three digits to copy at once, of 3, 2 and 4 values, each shown one-hot in a part of its own. The
/// reward is the share that match; other values of a digit are illegal about half of the time. An
/// illegal action pays -1 and terminates with success `no`, see MaskedEnv. Terminated after
/// `length` steps with success `yes`; `length` is the best return.
///
/// Observations do not depend on actions; the digit shown is always legal.
class MultiEnv {
 public:
  static constexpr std::array<std::int64_t, 3> kValues = {3, 2, 4};  // of each digit

  /// The key of `multi`.
  struct Config {
    std::int64_t length = 12;  // it ends by itself: terminated, not truncated

    template <class Visitor>
    void fields(Visitor& visit) {
      visit("length", length, "steps after which an episode ends", Range{1, 1e9});
    }
  };

  explicit MultiEnv(const Config& config) : length_(config.length) {}

  /// Parts: "first" {3}, "second" {2}, "third" {4}.
  [[nodiscard]] EnvSpec spec() const;
  /// The seed decides all digits and masks of the episode.
  void reset(std::uint64_t seed, Row row);
  /// Three numbers; an illegal or an impossible one may be given.
  Outcome step(std::span<const std::int64_t> action, Row row);

  /// Loading throws DataError for digits and steps out of range.
  template <class Archive>
  void state(Archive& archive) {
    archive(random_, digits_, legal_, steps_);
    if constexpr (Archive::kLoads) { detail::require_possible(possible()); }
  }

 private:
  [[nodiscard]] bool possible() const;
  [[nodiscard]] bool legal(std::span<const std::int64_t> action) const;
  void show_others(Row row);

  Random random_;
  std::array<std::int64_t, 3> digits_{};  // shown in the row last written
  std::uint32_t legal_ = 0;               // bits: the three masks one after another
  std::int64_t steps_ = 0;                // of the episode
  std::int64_t length_;
};

}  // namespace penstock
