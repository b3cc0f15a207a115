#include "core/train/intake.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/train/packing.h"
#include "penstock/core/base/errors.h"

namespace penstock::detail {
namespace {

constexpr std::chrono::milliseconds kPatience{100};  // between two looks at `stop`
constexpr std::pair<std::int64_t, std::int64_t> kNever{-1, -1};

}  // namespace

/// As it lies in a checkpoint.
struct Intake::Saved {
  struct Sampler {
    SamplerState place;
    template <class Archive>
    void state(Archive& archive) {
      archive(place.seat, place.epoch, place.number, place.bytes);
    }
  };
  std::int64_t num_seats = 0;
  std::int64_t num_taken = 0;
  std::vector<std::vector<std::byte>> arrived;
  std::vector<Place> taken;
  std::int64_t dropped = 0;
  std::int64_t repeated = 0;
  std::vector<Sampler> samplers;
  std::vector<TravellingEnd> episodes;  // that nobody was told of
  std::int64_t discarded = 0;
  template <class Archive>
  void state(Archive& archive) {
    archive(num_seats, num_taken, arrived, taken, dropped, repeated, samplers, episodes, discarded);
  }
};

Intake::Intake(Carrier& carrier, Fragment& buffer, std::int64_t max_lag)
    : carrier_(carrier), buffer_(&buffer), max_lag_(max_lag), taken_(carrier.num_seats(), kNever) {
  const auto seats = static_cast<std::int64_t>(carrier.num_seats());
  if (seats < 1 || buffer.num_envs() % seats != 0) {
    throw ConfigError(
        fmt::format("env.num_envs = {}: {} samplers cannot have equally many of them; use a "
                    "multiple of {}",
                    buffer.num_envs(), seats, std::max<std::int64_t>(seats, 1)));
  }
  num_envs_ = buffer.num_envs() / seats;
}

void Intake::adopt(const std::shared_ptr<const PolicyModel>& model) {
  version_ = model->version();
  carrier_.publish(*model);
}

void Intake::advance(std::int64_t /*num_steps*/) {
  if (full_) { return; }
  if (arrived_.size() < taken_.size()) { fetch(kPatience); }
  drop_old();
  if (arrived_.size() >= taken_.size()) { join(); }
}

/// False when there was none.
bool Intake::fetch(std::chrono::milliseconds wait) {
  std::vector<std::byte> bytes = carrier_.next(wait);
  if (bytes.empty()) { return false; }
  ++num_taken_;
  accept(std::move(bytes));
  return true;
}

void Intake::accept(std::vector<std::byte> bytes) {
  FragmentLabel label = label_of(bytes);
  if (label.seat < 0 || label.seat >= std::ssize(taken_)) {
    throw DataError(fmt::format("a fragment is of seat {}, of {}", label.seat, taken_.size()));
  }
  Place& last = taken_[label.seat];
  if (Place{label.epoch, label.number} <= last) {
    ++repeated_;
    return;
  }
  last = {label.epoch, label.number};
  arrived_.push_back({std::move(label), std::move(bytes)});
}

/// Their episodes have ended all the same.
void Intake::drop_old() {
  std::erase_if(arrived_, [this](Message& message) {
    if (version_ - message.label.version <= max_lag_) { return false; }
    ++dropped_;
    take_up(message.label);
    return true;
  });
}

/// What its envs have told.
void Intake::take_up(FragmentLabel& label) {
  for (const TravellingEnd& each : label.episodes) { episodes_.push_back(each.end); }
  for (TravellingIncident& each : label.incidents) {
    incidents_.push_back(std::move(each.incident));
  }
  discarded_ += label.discarded;
  time_.env += label.time.env;
  time_.infer += label.time.infer;
  time_.copy += label.time.copy;
}

void Intake::join() {
  std::set<std::int64_t> seats;
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    Message& message = arrived_.front();
    read_rows(message.bytes, static_cast<std::int64_t>(i) * num_envs_, num_envs_, *buffer_);
    seats.insert(message.label.seat);
    take_up(message.label);
    arrived_.pop_front();
  }
  seats_ = std::ssize(seats);
  steps_per_env_ += buffer_->num_steps();
  full_ = true;
}

void Intake::restart(Fragment& into) {
  buffer_ = &into;
  full_ = false;
}

Metrics Intake::metrics() const {
  return {{"async/dropped", static_cast<double>(dropped_)},
          {"async/repeated", static_cast<double>(repeated_)},
          {"async/seats", static_cast<double>(seats_)}};
}

/// What is under way arrives first, and is kept with the rest: nothing that was sampled is lost.
FragmentSource::State Intake::save() {
  Saved saved{.num_seats = std::ssize(taken_), .dropped = dropped_, .repeated = repeated_};
  for (SamplerState& state : carrier_.save()) { saved.samplers.push_back({std::move(state)}); }
  while (fetch(std::chrono::milliseconds{0})) {}
  for (const Message& message : arrived_) { saved.arrived.push_back(message.bytes); }
  saved.num_taken = num_taken_;
  saved.taken = taken_;
  saved.episodes = travelling(episodes_);
  saved.discarded = discarded_;
  const std::vector<std::byte> bytes = packed(saved);
  State state;
  state.steps_per_env = steps_per_env_;
  state.position = position();
  state.elsewhere = at::empty({std::ssize(bytes)}, at::kByte);
  std::ranges::copy(bytes, static_cast<std::byte*>(state.elsewhere.data_ptr()));
  return state;
}

void Intake::load(const State& state) {
  auto saved = unpacked<Saved>(
      {static_cast<const std::byte*>(state.elsewhere.data_ptr()), state.elsewhere.nbytes()});
  if (saved.num_seats != std::ssize(taken_) || saved.taken.size() != taken_.size()) {
    throw DataError(fmt::format("checkpoint: it is of {} samplers in other processes, not of {}",
                                saved.num_seats, taken_.size()));
  }
  std::ranges::fill(taken_, kNever);
  for (std::vector<std::byte>& bytes : saved.arrived) { accept(std::move(bytes)); }
  num_taken_ = saved.num_taken;
  taken_ = saved.taken;
  dropped_ = saved.dropped;
  repeated_ = saved.repeated;
  discarded_ = saved.discarded;
  for (const TravellingEnd& each : saved.episodes) { episodes_.push_back(each.end); }
  steps_per_env_ = state.steps_per_env;
  full_ = state.position > 0;
  std::vector<SamplerState> samplers;
  for (Saved::Sampler& each : saved.samplers) { samplers.push_back(std::move(each.place)); }
  carrier_.load(samplers, num_taken_);
}

}  // namespace penstock::detail
