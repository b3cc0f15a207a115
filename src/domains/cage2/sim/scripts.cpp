#include "penstock/domains/cage2/sim/scripts.h"

#include "penstock/core/base/errors.h"

namespace penstock::cage2 {
namespace {

using namespace host;  // NOLINT(google-build-using-namespace): thirteen names

struct Placed {
  Decoy decoy;
  std::uint8_t host;
};

constexpr std::array<Placed, 18> kFirstDecoys = {{
    {Decoy::femitter, kUser2},
    {Decoy::tomcat, kUser2},
    {Decoy::haraka, kEnterprise0},
    {Decoy::tomcat, kEnterprise0},
    {Decoy::vsftpd, kEnterprise0},
    {Decoy::apache, kEnterprise0},
    {Decoy::femitter, kEnterprise1},
    {Decoy::femitter, kEnterprise2},
    {Decoy::haraka, kOpServer0},
    {Decoy::apache, kOpServer0},
    {Decoy::tomcat, kOpServer0},
    {Decoy::vsftpd, kOpServer0},
    {Decoy::apache, kUser2},
    {Decoy::sshd, kUser2},
    {Decoy::apache, kUser1},
    {Decoy::tomcat, kUser1},
    {Decoy::smss, kUser1},
    {Decoy::svchost, kUser1},
}};

constexpr std::array<Placed, 21> kQuietDecoys = {{
    {Decoy::haraka, kEnterprise0}, {Decoy::tomcat, kEnterprise0},   {Decoy::apache, kEnterprise0},
    {Decoy::vsftpd, kEnterprise0}, {Decoy::femitter, kEnterprise1}, {Decoy::femitter, kEnterprise2},
    {Decoy::haraka, kOpServer0},   {Decoy::apache, kOpServer0},     {Decoy::tomcat, kOpServer0},
    {Decoy::vsftpd, kOpServer0},   {Decoy::femitter, kUser2},       {Decoy::tomcat, kUser1},
    {Decoy::apache, kUser1},       {Decoy::svchost, kUser1},        {Decoy::smss, kUser1},
    {Decoy::sshd, kUser2},         {Decoy::sshd, kUser3},           {Decoy::vsftpd, kUser3},
    {Decoy::vsftpd, kUser4},       {Decoy::tomcat, kUser2},         {Decoy::apache, kUser2},
}};

/// What is looked at first. User0 never: red cannot be driven out of it.
constexpr std::array<std::uint8_t, 12> kPriority = {
    kOpServer0, kEnterprise0, kEnterprise1, kEnterprise2, kUser4,       kUser3,
    kUser2,     kUser1,       kOpHost0,     kOpHost0 + 1, kOpHost0 + 2, kDefender};

constexpr double kRestoresServer = 0.5;   // instead of removing
constexpr double kAnalysesScanned = 0.5;  // before anything less urgent
constexpr double kRestoresUnknown = 0.3;  // instead of analysing
constexpr double kPlacesDecoy = 0.6;      // in a quiet step

std::int64_t index_of(const Placed& placed) { return decoy_index(placed.decoy, placed.host); }

}  // namespace

Script script_of(const std::string& name) {
  const std::vector<std::string> names = {"sleep", "random", "react", "decoy_first"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (name == names[i]) { return static_cast<Script>(i); }
  }
  throw UsageError("'" + name + "' is not one of sleep, random, react, decoy_first" +
                   did_you_mean(name, names));
}

void ScriptedBlue::reset(std::uint64_t seed) {
  *this = ScriptedBlue(script_);
  random_ = Random({.seed = seed, .stream = Stream::action});
}

std::int64_t ScriptedBlue::act(ObsBits obs) {
  switch (script_) {
    case Script::random:
      return random_.below(kNumActions);
    case Script::react:
      return react(obs);
    case Script::decoy_first:
      if (first_decoys_ < kFirstDecoys.size()) { return index_of(kFirstDecoys[first_decoys_++]); }
      return react(obs);
    default:
      return 0;
  }
}

std::int64_t ScriptedBlue::react(ObsBits obs) {
  for (const std::uint8_t h : kPriority) {
    const Mark seen = mark(obs, h);
    if (seen == Mark::privileged) { return action_index(BlueKind::restore, h); }
    if (seen == Mark::user) {
      const bool restores = has(kServers, h) && coin(kRestoresServer);
      return action_index(restores ? BlueKind::restore : BlueKind::remove, h);
    }
  }
  for (const std::uint8_t h : kPriority) {
    if (activity(obs, h) == Activity::scan && coin(kAnalysesScanned)) {
      return action_index(BlueKind::analyse, h);
    }
  }
  for (const std::uint8_t h : kPriority) {
    if (mark(obs, h) == Mark::unknown) {
      return action_index(coin(kRestoresUnknown) ? BlueKind::restore : BlueKind::analyse, h);
    }
  }
  return when_quiet();
}

std::int64_t ScriptedBlue::when_quiet() {
  if (quiet_decoys_ < kQuietDecoys.size() && coin(kPlacesDecoy)) {
    return index_of(kQuietDecoys[quiet_decoys_++]);
  }
  const std::uint8_t host = next_analysed_;
  next_analysed_ = (next_analysed_ + 1) % kNumHosts;
  return action_index(BlueKind::analyse, host);
}

void ScriptedBlue::require_possible() const {
  if (script_ > Script::decoy_first || first_decoys_ > kFirstDecoys.size() ||
      quiet_decoys_ > kQuietDecoys.size() || next_analysed_ >= kNumHosts) {
    throw DataError("env state: a scripted defender that no episode of cage2 can have");
  }
}

}  // namespace penstock::cage2
