#include "penstock/domains/cage2/sim/record.h"

#include <span>

#include "domains/cage2/sim/recording.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/cage2/sim/npz.h"

namespace penstock::cage2 {
namespace {

Simulator::Config recorded_game(const Recorder::Options& options, const std::string& wrapper) {
  Simulator::Config config = config_of(options.source);
  config.red = options.red;
  if (!wrapper.empty()) { config.wrapper = wrapper; }
  return config;
}

/// The first bit is the highest of the first byte.
void pack_obs(ObsBits obs, std::vector<std::uint8_t>& into) {
  std::array<std::uint8_t, kObsBytes> bytes{};
  for (std::size_t i = 0; i < kObsSize; ++i) {
    bytes[i / 8] |= static_cast<std::uint8_t>((obs >> i & 1U) << (7 - i % 8));
  }
  into.insert(into.end(), bytes.begin(), bytes.end());
}

template <class T>
NpyArray array_of(const char* name, const std::vector<T>& items, std::vector<std::size_t> shape) {
  const auto bytes = std::as_bytes(std::span(items));
  return {.name = name,
          .is_signed = std::is_signed_v<T>,
          .item_size = sizeof(T),
          .shape = std::move(shape),
          .items = {bytes.begin(), bytes.end()}};
}

}  // namespace

Recorder::Recorder(const Options& options)
    : first_(recorded_game(options, "")),
      second_(recorded_game(options, "v2")),
      seen_(recorded_game(options, options.wrapper)) {}

void Recorder::reset(std::uint64_t seed) {
  std::array<float, kObsSize> row{};
  for (Simulator* game : {&first_, &second_, &seen_}) { game->reset(seed, {row, {}}); }
  seeds_.push_back(static_cast<std::int64_t>(seed));
}

Simulator::Trace Recorder::step(std::int64_t action) {
  const Simulator::Trace trace = first_.advance(action);
  second_.advance_forced(action, trace.red);
  seen_.advance_forced(action, trace.red);
  keep(action, trace);
  return trace;
}

void Recorder::keep(std::int64_t action, const Simulator::Trace& trace) {
  const bool exists = action >= 0 && action < static_cast<std::int64_t>(kNumActions);
  blue_.push_back(static_cast<std::uint8_t>(exists ? action : 0));
  pack_obs(first_.obs(), obs_);
  pack_obs(second_.obs(), obs2_);
  reward_.push_back(static_cast<std::int16_t>(-trace.cost_tenths));
  keep_info(trace);
}

void Recorder::keep_info(const Simulator::Trace& trace) {
  std::array<std::uint8_t, kInfoSize> info{};
  const RedMove& move = trace.red;
  const Knowledge& known = first_.world().knowledge();
  const bool tossed = move.action == RedAction::exploit && move.exploit != kNone;
  const auto put_hosts = [&](std::size_t at, HostSet hosts) {
    info[at] = hosts & 255U;
    info[at + 1] = hosts >> 8;
  };
  info[column::kBlueFlag] = static_cast<std::uint8_t>(trace.blue_flag);
  info[column::kRedAction] = static_cast<std::uint8_t>(move.action);
  info[column::kRedTarget] = move.target;
  info[column::kRedFlag] = static_cast<std::uint8_t>(trace.red_flag);
  info[column::kExploit] = move.exploit;
  info[column::kDetected] = tossed ? (move.detected ? 1 : 0) : kNone;
  info[column::kSession] = move.action == RedAction::escalate ? move.session : kNone;
  info[column::kStage] = first_.red().stage();
  info[column::kServiceUp] = first_.world().service_up() ? 1 : 0;
  info[column::kServiceKnown] = known.service;
  put_hosts(column::kAddresses, known.addresses);
  put_hosts(column::kNames, known.names);
  for (std::uint8_t h = 0; h < kNumHosts; ++h) {
    const HostReadOut host = read_out(first_.world(), h);
    for (std::size_t b = 0; b < host.size(); ++b) {
      info[column::kHosts + kNumHosts * b + h] = host[b];
    }
  }
  info_.insert(info_.end(), info.begin(), info.end());
}

void Recorder::save(const std::string& path) const {
  const std::size_t episodes = seeds_.size();
  const std::size_t steps = episodes == 0 ? 0 : blue_.size() / episodes;
  if (steps * episodes != blue_.size()) {
    throw UsageError(path + ": its episodes are not equally long");
  }
  save_npz(path,
           {array_of("blue", blue_, {episodes, steps}),
            array_of("obs", obs_, {episodes, steps, kObsBytes}),
            array_of("obs2", obs2_, {episodes, steps, kObsBytes}),
            array_of("reward10", reward_, {episodes, steps}), array_of("seeds", seeds_, {episodes}),
            array_of("info", info_, {episodes, steps, kInfoSize})});
}

}  // namespace penstock::cage2
