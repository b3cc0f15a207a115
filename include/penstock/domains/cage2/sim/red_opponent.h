#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/domains/cage2/sim/opponent.h"
#include "penstock/domains/cage2/sim/red_memory.h"
#include "penstock/domains/cage2/sim/simulator.h"

namespace penstock::cage2 {

/// Attackers of a defender's games: scripts and policies of `cage2_red`, one drawn for each episode
/// by its seed, not by the game's own numbers. Movable, not copyable; one thread at a time.
class RedOpponent {
 public:
  /// None: empty, and advance() is the simulator's own. Throws ConfigError for a policy of another
  /// env.
  explicit RedOpponent(const Opponents* opponents);

  [[nodiscard]] bool empty() const { return reds_.empty(); }
  /// After the simulator's reset.
  void reset(std::uint64_t seed, Simulator& simulator);
  /// A step, with what red chooses.
  Simulator::Trace advance(Simulator& simulator, std::int64_t action);

  /// Loading throws DataError for what no episode can have.
  template <class Archive>
  void state(Archive& archive) {
    archive(seed_, drawn_, memory_);
    if constexpr (Archive::kLoads) { require_possible(); }
  }

 private:
  struct Entry {
    RedKind script = RedKind::sleep;
    std::unique_ptr<Opponent> policy;  // none: the script
  };
  void require_possible() const;

  std::vector<Entry> reds_;
  std::array<float, RedMemory::kSize> row_{};
  std::array<bool, kNumRedActions> legal_{};
  RedMemory memory_;
  std::uint64_t seed_ = 0;
  std::uint32_t drawn_ = 0;
};

/// The words that `env.red` knows beside files, `mix` aside.
std::vector<std::string> red_scripts();

}  // namespace penstock::cage2
