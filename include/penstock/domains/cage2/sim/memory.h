#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "penstock/domains/cage2/sim/network.h"

/// What a defender can know beyond the 52 bits of a step: what it did and was shown before.
namespace penstock::cage2 {

/// The hosts worth defending: not the Defender, which cannot be taken, nor User0, which cannot be
/// won back.
constexpr std::array<std::uint8_t, 11> kDefended = {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12};
constexpr std::size_t kNumDefended = kDefended.size();

/// The decoys that a host can have, the one that red likes best to attack first. At most four.
std::span<const Decoy> decoys_of(std::uint8_t host);
constexpr std::size_t kMaxDecoysOfHost = 4;

/// A defender's memory of an episode. It is made of its own actions, whether they succeeded, and
/// the observations; nothing of the true state comes in.
/// A small value; copies are independent.
class Memory {
 public:
  static constexpr std::int32_t kNever = -1;

  /// Steps count from 1. Sets of decoys are bits by their place in decoys_of().
  struct Host {
    std::int32_t active = kNever;     // the last step with activity
    std::int32_t exploited = kNever;  // with an exploit's
    std::int32_t repaired = kNever;   // that Blue removed or restored
    std::int32_t analysed = kNever;
    std::uint8_t num_scans = 0;  // up to 255, as the next two
    std::uint8_t num_exploits = 0;
    std::uint8_t num_restores = 0;
    std::uint8_t decoys = 0;  // in place
    std::uint8_t lures = 0;   // decoys that were in place when the host was scanned
    std::array<std::uint8_t, 3> unused{};

    template <class Archive>
    void state(Archive& archive) {
      archive(active, exploited, repaired, analysed, num_scans, num_exploits, num_restores, decoys,
              lures, unused);
    }
  };

  /// Begins an episode.
  void reset() { *this = {}; }
  /// A step: the action (of the 145), how it went, and what Blue saw then.
  void note(std::int64_t action, Flag flag, ObsBits obs);

  /// Of the 145: the best decoy that the host does not have yet; the first once it has all.
  [[nodiscard]] std::int64_t next_decoy(std::uint8_t host) const;

  /// Since the episode began.
  [[nodiscard]] std::int32_t steps() const { return steps_; }
  [[nodiscard]] const Host& at(std::uint8_t host) const { return hosts_[host]; }

  /// Numbers from 0 to 1.
  /// [kSize]: hosts, then decoys of the defended ones, then what concerns all.
  void write(std::span<float> row) const;
  static constexpr std::size_t kFeaturesOfHost = 10;
  static constexpr std::size_t kNumGlobal = 28;
  static constexpr std::size_t kSize =
      kNumHosts * kFeaturesOfHost + kNumDefended * 2 * kMaxDecoysOfHost + kNumGlobal;

  /// Loading throws DataError for what no episode can have.
  template <class Archive>
  void state(Archive& archive) {
    archive(hosts_, steps_, quiet_since_, first_active_, num_seen_, last_kind_, last_flag_);
    if constexpr (Archive::kLoads) { require_possible(); }
  }

 private:
  void note_action(BlueMove move, Flag flag);
  void note_activity(std::uint8_t host, Activity seen);
  [[nodiscard]] float recency(std::int32_t step) const;
  void write_host(const Host& host, std::span<float> row) const;
  void write_global(std::span<float> row) const;
  void write_time(std::span<float> row) const;
  void write_progress(std::span<float> row) const;
  void require_possible() const;

  std::array<Host, kNumHosts> hosts_{};
  std::int32_t steps_ = 0;
  std::int32_t quiet_since_ = 0;          // the last step with activity anywhere
  std::uint8_t first_active_ = kNone;     // the first host with any
  std::uint8_t num_seen_ = 0;             // hosts with any
  BlueKind last_kind_ = BlueKind::sleep;  // Blue's last action
  Flag last_flag_ = Flag::unknown;
};

/// Sleep, then Analyse, Remove, Restore and "the next decoy" for each of kDefended.
constexpr std::size_t kNumMacros = 1 + 4 * kNumDefended;

/// The action of the 145 that a macro action means to a defender who remembers this much. Anything
/// else is sleep.
std::int64_t macro_action(std::int64_t macro, const Memory& memory);

}  // namespace penstock::cage2
