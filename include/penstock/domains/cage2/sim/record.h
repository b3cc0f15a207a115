#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "penstock/domains/cage2/sim/replay.h"
#include "penstock/domains/cage2/sim/simulator.h"

namespace penstock::cage2 {

/// Plays episodes of our simulator and keeps them as recordings of the real one are kept: what
/// save() wrote, replay_file() reads. Not thread-safe.
///
///     Recorder recorder({.red = "meander"});
///     recorder.reset(7);
///     for (int t = 0; t < 100; ++t) { recorder.step(blue.act(recorder.obs())); }
///     recorder.save("meander-mine-100.npz");
class Recorder {
 public:
  /// Of which game.
  struct Options {
    Source source = Source::head;
    std::string red = "bline";  // or meander, or sleep
    std::string wrapper = {};   // by which Blue is shown events; empty: the source's own
  };
  explicit Recorder(const Options& options);

  /// Begins an episode. All must be as long as the first.
  void reset(std::uint64_t seed);
  /// What Blue sees.
  [[nodiscard]] ObsBits obs() const { return seen_.obs(); }
  /// Any of the 145; everything else is kept as sleep.
  Simulator::Trace step(std::int64_t action);

  /// All episodes. Throws UsageError when one is shorter than the others, or when they are more
  /// than can be read again; IoError.
  void save(const std::string& path) const;

 private:
  void keep(std::int64_t action, const Simulator::Trace& trace);
  void keep_info(const Simulator::Trace& trace);

  Simulator first_;   // with the wrapper of the source
  Simulator second_;  // with v2
  Simulator seen_;    // with Blue's
  std::vector<std::int64_t> seeds_;
  std::vector<std::uint8_t> blue_;
  std::vector<std::uint8_t> obs_;     // [n, T, 7]
  std::vector<std::uint8_t> obs2_;    // the same
  std::vector<std::int16_t> reward_;  // [n, T], times ten
  std::vector<std::uint8_t> info_;    // [n, T, 131]
};

}  // namespace penstock::cage2
