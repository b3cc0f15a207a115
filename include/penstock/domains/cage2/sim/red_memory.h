#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "penstock/domains/cage2/sim/red.h"
#include "penstock/domains/cage2/sim/world.h"

/// What a trained attacker sees and may do in Scenario 2.
namespace penstock::cage2 {

/// Sleep; DiscoverRemoteSystems of three subnets; DiscoverNetworkServices, Exploit and
/// PrivilegeEscalate of each host; Impact.
constexpr std::size_t kNumRedActions = 1 + 3 + 3 * kNumHosts + 1;

/// Action `index` of kNumRedActions; anything else is sleep.
Intent red_intent(std::int64_t index);

/// What red knows, and its own actions with how they went: what the scripts go by. It is not told
/// what Blue does, nor which sessions it still has.
/// A small value; copies are independent.
class RedMemory {
 public:
  struct Host {
    std::int32_t last = -1;         // the step of its last action there
    std::uint8_t taken = 0;         // the last exploit succeeded, and no escalation failed since
    std::uint8_t escalated = 0;     // the last escalation succeeded
    std::uint8_t num_scans = 0;     // up to 255, as the next
    std::uint8_t num_failures = 0;  // since the last success

    template <class Archive>
    void state(Archive& archive) {
      archive(last, taken, escalated, num_scans, num_failures);
    }
  };

  /// Begins an episode.
  void reset() { *this = {}; }
  /// A step: what it did and how that went.
  void note(const RedMove& move, Flag flag);

  /// Since the episode began.
  [[nodiscard]] std::int32_t steps() const { return steps_; }

  /// Numbers from 0 to 1. Of the world only what red has learnt of it.
  /// [kSize]: hosts, then what concerns all.
  void write(const World& world, std::span<float> row) const;
  /// [kNumRedActions]: an address that is unknown cannot be scanned, a host without known ports not
  /// be exploited, one without a known name not be escalated, a service that is unknown not be
  /// stopped. Sleep is always legal.
  static void write_mask(const World& world, std::span<bool> legal);

  static constexpr std::size_t kFeaturesOfHost = 15;
  static constexpr std::size_t kNumGlobal = 17;
  static constexpr std::size_t kSize = kNumHosts * kFeaturesOfHost + kNumGlobal;

  /// Loading throws DataError for what no episode can have.
  template <class Archive>
  void state(Archive& archive) {
    archive(hosts_, steps_, discovered_, last_action_, last_flag_);
    if constexpr (Archive::kLoads) { require_possible(); }
  }

 private:
  void note_host(const RedMove& move, bool good);
  void write_host(const World& world, std::uint8_t host, std::span<float> row) const;
  void require_possible() const;

  std::array<Host, kNumHosts> hosts_{};
  std::int32_t steps_ = 0;
  std::uint8_t discovered_ = 0;  // subnets, bit s for Subnet s
  RedAction last_action_ = RedAction::sleep;
  Flag last_flag_ = Flag::unknown;
};

}  // namespace penstock::cage2
