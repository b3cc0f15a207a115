#include "imitation.h"

#include <bit>
#include <limits>

#include "penstock/domains/cage2/sim/npz.h"

namespace penstock::cage2::test {
namespace {

constexpr std::size_t kOpening = 3;

ObsBits unpack(const NpyArray& obs, std::size_t row) {
  ObsBits bits = 0;
  for (std::size_t i = 0; i < kObsSize; ++i) {
    bits |= static_cast<ObsBits>(obs[7 * row + i / 8] >> (7 - i % 8) & 1) << i;
  }
  return bits;
}

}  // namespace

Imitation::Imitation(const std::vector<std::string>& recordings) {
  for (const std::string& recording : recordings) { learn(recording); }
}

void Imitation::reset() {
  now_ = {};
  step_ = 0;
}

std::int64_t Imitation::act(ObsBits obs) {
  see(now_, obs);
  const std::int64_t action = step_ < opening_.size() ? opening_[step_] : recall();
  ++step_;
  did(now_, action);
  return action;
}

std::int64_t Imitation::recall() {
  ++asked_;
  if (const auto same = known_.find(now_); same != known_.end()) {
    ++found_;
    return same->second;
  }
  int nearest = std::numeric_limits<int>::max();
  std::int64_t action = 0;
  for (const auto& [situation, done] : known_) {
    const int away = distance(situation, now_);
    if (away < nearest) {
      nearest = away;
      action = done;
    }
  }
  return action;
}

int Imitation::distance(const Situation& a, const Situation& b) {
  int decoys = 0;
  for (std::size_t h = 0; h < kNumHosts; ++h) {
    decoys += std::popcount(static_cast<unsigned>(a.decoys[h] ^ b.decoys[h]));
  }
  return 8 * std::popcount(a.obs ^ b.obs) + 4 * (a.last_scanned == b.last_scanned ? 0 : 1) +
         2 * std::popcount(static_cast<unsigned>(a.scanned ^ b.scanned)) + decoys;
}

void Imitation::see(Situation& now, ObsBits obs) {
  constexpr HostSet kOpHosts = 0b111'0000;  // the agent does not remember their scans
  now.obs = obs;
  for (std::uint8_t h = 0; h < kNumHosts; ++h) {
    if (activity(obs, h) == Activity::scan && !has(kOpHosts, h)) {
      now.scanned |= bit(h);
      now.last_scanned = h;
      return;
    }
  }
}

void Imitation::did(Situation& now, std::int64_t action) {
  const BlueMove move = blue_move(action);
  if (move.is_decoy()) {
    now.decoys[move.host] |= static_cast<std::uint8_t>(1U << static_cast<unsigned>(move.decoy()));
  } else if (move.kind == BlueKind::restore) {
    now.decoys[move.host] = 0;
  }
}

void Imitation::learn(const std::string& recording) {
  const Npz npz = Npz::read(recording);
  const NpyArray& blue = npz.at("blue");
  const NpyArray& obs = npz.at("obs2");
  const std::size_t steps = blue.shape[1];
  for (std::size_t row = 0; row < blue.size(); ++row) {
    const std::size_t t = row % steps;
    if (t == 0) { now_ = {}; }
    see(now_, t == 0 ? 0 : unpack(obs, row - 1));
    if (t >= kOpening) {
      remember(now_, blue[row]);
    } else if (opening_.size() == t) {
      opening_.push_back(blue[row]);
    }
    did(now_, blue[row]);
  }
}

void Imitation::remember(const Situation& situation, std::int64_t action) {
  const auto [known, fresh] = known_.emplace(situation, action);
  contradictions_ += known->second == action ? 0 : 1;
}

}  // namespace penstock::cage2::test
