#include "core/train/crew.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/train/joined_state.h"
#include "core/train/packing.h"
#include "core/train/travelling.h"
#include "penstock/core/base/stopwatch.h"

namespace penstock::detail {

enum class Crew::Task : std::uint64_t {
  vote,
  sample,
  episodes,
  update,
  snapshot,
  evaluate,
  compare,
  restore,
  start_from,
  end
};

/// What comes next, as rank 0 says.
struct Crew::Order {
  Task task = Task::end;
  double number = 0;  // steps, a share, or an exit code
  template <class Archive>
  void state(Archive& archive) {
    archive(task, number);
  }
};

namespace {

/// How a process failed.
struct Failure {
  bool failed = false;
  int exit = 0;
  std::string message;
  template <class Archive>
  void state(Archive& archive) {
    archive(failed, exit, message);
  }
};

Failure describe(const std::exception_ptr& failure) {
  if (!failure) { return {}; }
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return {true, static_cast<int>(error.exit()), error.what()};
  } catch (const std::exception& error) {
    return {true, static_cast<int>(Exit::failed), error.what()};
  } catch (...) { return {true, static_cast<int>(Exit::failed), "an unknown failure"}; }
}

struct TravellingMishaps {
  std::int64_t discarded = 0;
  std::vector<TravellingIncident> incidents;
  template <class Archive>
  void state(Archive& archive) {
    archive(discarded, incidents);
  }
};

TravellingMishaps travelling(Mishaps mishaps) {
  TravellingMishaps out{.discarded = mishaps.discarded, .incidents = {}};
  for (Incident& incident : mishaps.incidents) { out.incidents.push_back({std::move(incident)}); }
  return out;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

EvalOptions eval_options(const RunPlan& plan, const std::atomic<bool>* stop) {
  const RunSection& run = plan.config().run;
  return {.episodes = run.eval_episodes,
          .seed = plan.config().seed,
          .max_steps = run.eval_max_steps,
          .stop = stop};
}

void fail_together(Peers& peers, const std::exception_ptr& failure) {
  if (peers.alone()) {
    if (failure) { std::rethrow_exception(failure); }
    return;
  }
  if (!peers.agree(failure != nullptr)) { return; }
  std::vector<std::byte> told;
  const auto all = peers.gather(packed(describe(failure)));
  for (std::size_t rank = 0; rank < all.size() && told.empty(); ++rank) {
    Failure first = unpacked<Failure>(all[rank]);
    if (!first.failed) { continue; }
    first.message = fmt::format("rank {}: {}", rank, first.message);
    told = packed(first);
  }
  peers.broadcast(told);
  if (failure) { std::rethrow_exception(failure); }
  const auto first = unpacked<Failure>(told);
  throw Error(static_cast<Exit>(first.exit), first.message);
}

void Crew::announce(Peers& peers, Task task, double number) {
  if (peers.alone()) { return; }
  std::vector<std::byte> bytes = packed(Order{task, number});
  peers.broadcast(bytes);
}

Crew::Order Crew::next_order() {
  std::vector<std::byte> bytes;
  peers_.broadcast(bytes);
  return unpacked<Order>(bytes);
}

bool Crew::stops(bool here) {
  announce(Task::vote);
  return peers_.agree(here);
}

Mishaps Crew::sample(std::int64_t num_steps) {
  announce(Task::sample, static_cast<double>(num_steps));
  return sample_here(num_steps);
}

Mishaps Crew::sample_here(std::int64_t num_steps) {
  std::exception_ptr failure;
  const Stopwatch watch;
  try {
    engine_.sample(num_steps);
  } catch (...) { failure = std::current_exception(); }
  const double seconds = watch.seconds();
  fail_together(peers_, failure);
  Mishaps here{engine_.source().take_discarded(), engine_.source().take_incidents(), seconds};
  if (peers_.alone()) { return here; }
  Mishaps all{.seconds = seconds};
  for (const auto& bytes : peers_.gather(packed(travelling(std::move(here))))) {
    auto part = unpacked<TravellingMishaps>(bytes);
    all.discarded += part.discarded;
    for (TravellingIncident& each : part.incidents) {
      all.incidents.push_back(std::move(each.incident));
    }
  }
  return all;
}

std::vector<EpisodeEnd> Crew::take_episodes() {
  announce(Task::episodes);
  return take_episodes_here();
}

std::vector<EpisodeEnd> Crew::take_episodes_here() {
  std::vector<EpisodeEnd> here = engine_.source().take_episodes();
  if (peers_.alone()) { return here; }
  std::vector<EpisodeEnd> all;
  for (const auto& bytes : peers_.gather(packed(travelling(here)))) {
    for (const auto& each : unpacked<std::vector<TravellingEnd>>(bytes)) {
      all.push_back(each.end);
    }
  }
  return all;
}

Metrics Crew::update(double done) {
  announce(Task::update, done);
  return engine_.update(done);
}

void Crew::snapshot(Engine::Snapshot& into) {
  announce(Task::snapshot);
  engine_.snapshot(into);
  if (!peers_.alone()) { join_parts(into, peers_.gather({})); }
}

std::vector<EpisodeEnd> Crew::play(const EvalOptions& options) {
  announce(Task::evaluate, options.stop != nullptr ? 1 : 0);
  return play_here(options);
}

std::vector<EpisodeEnd> Crew::play_here(const EvalOptions& options) {
  EvalOptions share = options;
  share.first = peers_.rank();
  share.stride = peers_.size();
  std::vector<EpisodeEnd> ends;
  std::exception_ptr failure;
  try {
    ends = play_episodes(engine_.player(), plan_.env(), engine_.pool(), share);
  } catch (...) { failure = std::current_exception(); }
  fail_together(peers_, failure);
  if (peers_.alone()) { return ends; }
  if (peers_.agree(ends.empty())) { return {}; }  // stopped
  const auto all = peers_.gather(packed(travelling(ends)));
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const auto theirs = unpacked<std::vector<TravellingEnd>>(all[rank]);
    for (std::size_t i = rank; i < ends.size(); i += peers_.size()) { ends[i] = theirs.at(i).end; }
  }
  return ends;
}

void Crew::compare_weights() {
  if (peers_.alone()) { return; }
  announce(Task::compare);
  const std::string mine = engine_.digest();
  const auto all = peers_.gather(bytes_of(mine));
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (std::ranges::equal(all[rank], bytes_of(mine))) { continue; }
    throw Error(
        Exit::failed,
        fmt::format("update {}: the weights of rank {} have the digest {}, those of rank 0 {}. "
                    "One of the machines computes differently; start again from the last "
                    "checkpoint without it",
                    engine_.num_updates(), rank,
                    std::string(reinterpret_cast<const char*>(all[rank].data()), all[rank].size()),
                    mine));
  }
}

void Crew::restore(const Checkpoint& checkpoint) { take_checkpoint(Task::restore, &checkpoint); }
void Crew::start_from(const Checkpoint& checkpoint) {
  take_checkpoint(Task::start_from, &checkpoint);
}

/// `checkpoint` is rank 0's; the others get its bytes.
void Crew::take_checkpoint(Task task, const Checkpoint* checkpoint) {
  const auto take = [&](const Checkpoint& whole) {
    std::exception_ptr failure;
    try {
      task == Task::restore ? engine_.restore(whole) : engine_.start_from(whole);
    } catch (...) { failure = std::current_exception(); }
    fail_together(peers_, failure);
  };
  if (checkpoint != nullptr) { announce(task); }
  if (peers_.alone()) { return take(*checkpoint); }
  std::vector<std::byte> bytes;
  if (checkpoint != nullptr) { bytes = pack_checkpoint(*checkpoint); }
  peers_.broadcast(bytes);
  if (checkpoint != nullptr) { return take(*checkpoint); }
  take(unpack_checkpoint(bytes));
}

void Crew::dismiss(Peers& peers, Exit how) noexcept {
  try {
    announce(peers, Task::end, static_cast<double>(how));
  } catch (const std::exception&) {
    // Whoever is left finds out by itself.
  }
}

Exit Crew::follow(const std::atomic<bool>& stop) {
  for (;;) {
    const Order order = next_order();
    if (order.task != Task::end) {
      obey(order, stop);
      continue;
    }
    const auto how = static_cast<Exit>(static_cast<int>(order.number));
    if (how == Exit::ok || how == Exit::preempted) { return how; }
    throw Error(how, fmt::format("rank {}: rank 0 has ended the run, and says why", peers_.rank()));
  }
}

void Crew::obey(const Order& order, const std::atomic<bool>& stop) {
  switch (order.task) {
    case Task::vote:
      peers_.agree(stop);
      return;
    case Task::sample:
      sample_here(static_cast<std::int64_t>(order.number));
      return;
    case Task::episodes:
      take_episodes_here();
      return;
    case Task::update:
      engine_.update(order.number);
      engine_.take_skipped();
      return;
    case Task::snapshot:
      engine_.snapshot(part_);
      peers_.gather(pack_part(part_));
      return;
    case Task::evaluate:
      play_here(eval_options(plan_, order.number > 0 ? &stop : nullptr));
      return;
    case Task::compare:
      peers_.gather(bytes_of(engine_.digest()));
      return;
    case Task::restore:
    case Task::start_from:
      return take_checkpoint(order.task, nullptr);
    case Task::end:
      return;
  }
}

}  // namespace penstock::detail
