#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "penstock/base/random.h"
#include "penstock/classic/possible_state.h"
#include "penstock/env/env.h"

namespace penstock {

/// Three digits to copy at once, of 3, 2 and 4 values, each shown one-hot in a part of its own. The
/// reward is the share that match; other values of a digit are illegal about half of the time. An
/// illegal action pays -1 and terminates with success `no`, see MaskedEnv. Terminated after
/// `length` steps with success `yes`; `length` is the best return.
class MultiEnv {
 public:
  static constexpr std::array<std::int64_t, 3> kValues = {3, 2, 4};

  struct Config {
    std::int64_t length = 12;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit("length", length, "steps after which an episode ends", Range{1, 1e9});
    }
  };

  explicit MultiEnv(const Config& config) : length_(config.length) {}

  /// Parts: "first" {3}, "second" {2}, "third" {4}.
  [[nodiscard]] EnvSpec spec() const;
  void reset(std::uint64_t seed, Row row);
  Outcome step(std::span<const std::int64_t> action, Row row);

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
  std::array<std::int64_t, 3> digits_{};
  std::uint32_t legal_ = 0;  // bits: the three masks one after another
  std::int64_t steps_ = 0;
  std::int64_t length_;
};

}  // namespace penstock
