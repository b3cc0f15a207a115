#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "penstock/domains/cage2/sim/simulator.h"

namespace penstock::cage2 {

/// The program that a recording was made with.
enum class Source : std::uint8_t {
  head,         // the challenge's repository as it stands
  leaderboard,  // as it stood on the day of the official scores
  dbg,          // CybORG++
};

/// The one that a word of `--rules` names: head, leaderboard or dbg. Throws UsageError.
Source source_of(const std::string& rules);
/// A simulator that plays by the rules of the source.
Simulator::Config config_of(Source source);

/// What a replay found. A step counts once for each observation (wrappers v1 and v2), reward or
/// read-out that differs.
struct ReplayReport {
  std::int64_t files = 0;
  std::int64_t episodes = 0;
  std::int64_t steps = 0;
  std::int64_t observation_mismatches = 0;
  std::int64_t reward_mismatches = 0;
  std::int64_t field_mismatches = 0;
  std::vector<std::string> examples;  // the first few: file, episode, step, what

  /// Sums up; keeps the first few examples.
  void add(const ReplayReport& other);
};

/// Plays a recording with red's moves forced and compares every step: observations, reward, flags,
/// what red may choose, and the state behind it. The file's name is RED-POLICY-STEPS.npz; its
/// arrays are described in docs/cage2/README.md. Throws DataError when it is not a recording.
ReplayReport replay_file(const std::string& path, Source source);

/// Every recording of the folder, and of its subfolders `lb` (leaderboard) and `dbg`.
/// Throws UsageError when there is none.
ReplayReport replay_folder(const std::string& folder);

}  // namespace penstock::cage2
