#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/core/env/spec.h"

/// The other side of a game as a trained policy. How a policy is read and run is not known here:
/// see penstock/domains/cage2/opponent/policy_opponent.h.
namespace penstock::cage2 {

/// A policy that plays one game at a time. Not thread-safe: every env has its own.
class Opponent {
 public:
  virtual ~Opponent() = default;
  /// An action for what it sees, drawn by (seed, step): no other state decides. `legal` is empty
  /// where every action is legal.
  virtual std::int64_t choose(std::span<const float> obs, std::span<const bool> legal,
                              std::uint64_t seed, std::uint64_t step) = 0;
};

/// Somebody whom an env may meet.
struct OpponentEntry {
  std::string name;                                      // a script's, or a file's
  EnvSpec spec = {};                                     // what a policy sees and does
  std::function<std::unique_ptr<Opponent>()> make = {};  // none: a script
};

/// One of them is drawn for each episode, evenly; one that is named twice comes twice as often.
using Opponents = std::vector<OpponentEntry>;

/// Reads a policy file. Throws IoError or DataError.
using OpponentLoader = std::function<OpponentEntry(const std::string& path)>;

/// Those that a key names with commas: scripts by their names, all others as files. Throws
/// ConfigError that names `key` for a word that is neither.
Opponents opponents_of(const std::string& key, const std::string& text,
                       const std::vector<std::string>& scripts, const OpponentLoader& load);

/// Throws ConfigError unless the policy sees and does as much as the env of that name.
void require_spec(const std::string& key, const OpponentEntry& entry, const EnvSpec& wanted,
                  const std::string& env);

/// The opponent of an episode, of `count`.
std::size_t draw_opponent(std::uint64_t seed, std::size_t count);

}  // namespace penstock::cage2
