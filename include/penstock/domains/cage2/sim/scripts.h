#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "penstock/core/base/random.h"
#include "penstock/domains/cage2/sim/network.h"

namespace penstock::cage2 {

/// Blue agents that are written down, not trained: baselines, and those that recordings were made
/// with.
enum class Script : std::uint8_t {
  sleep,        // does nothing
  random,       // any of the 145 actions, evenly
  react,        // removes, restores and analyses what the table shows; decoys when it is quiet
  decoy_first,  // eighteen decoys, then as react
};

/// Throws UsageError naming those there are.
Script script_of(const std::string& name);

/// Sees what the challenge's Blue agent sees. One per game; not thread-safe.
class ScriptedBlue {
 public:
  explicit ScriptedBlue(Script script) : script_(script) {}

  /// Begins an episode.
  void reset(std::uint64_t seed);
  /// The next action, an index below 145.
  std::int64_t act(ObsBits obs);

  /// Loading throws DataError for what no episode can have.
  template <class Archive>
  void state(Archive& archive) {
    archive(script_, random_, first_decoys_, quiet_decoys_, next_analysed_);
    if constexpr (Archive::kLoads) { require_possible(); }
  }

 private:
  void require_possible() const;
  std::int64_t react(ObsBits obs);
  std::int64_t when_quiet();
  bool coin(double p) { return random_.uniform() < p; }

  Script script_;
  Random random_;
  std::size_t first_decoys_ = 0;    // placed so far, of those that come first
  std::size_t quiet_decoys_ = 0;    // of those for quiet steps
  std::uint8_t next_analysed_ = 1;  // the host that a quiet step analyses
};

}  // namespace penstock::cage2
