#include <fmt/format.h>

#include <algorithm>

#include "envs/python/slot.h"
#include "penstock/core/base/archive.h"
#include "penstock/core/base/errors.h"
#include "penstock/envs/python/process_env.h"

// A checkpoint of an env is its episode's seed and actions; loading takes the actions again. The row
// that they led to is saved too: an env that keeps state over episodes now shows another.

namespace penstock {

void ProcessEnv::save(std::size_t env, std::vector<std::byte>& out) const {
  StateWriter writer(out);
  writer(slots_[env]);
  const auto row = std::span(last_obs_).subspan(env * rows_.num_features(), rows_.num_features());
  writer(std::vector<float>(row.begin(), row.end()));
}

void ProcessEnv::load(std::size_t env, std::span<const std::byte> bytes) {
  StateReader reader(bytes);
  Slot& slot = slots_[env];
  slot.state(reader);
  slot.seen.clear();
  if (!reader.empty()) { reader(slot.seen); }  // it is not in checkpoints of version 0.1
  const std::size_t taken = rows_.continuous() ? slot.points.size() : slot.choices.size();
  const bool fits = slot.steps >= 0 && taken == (slot.complete ? slot.steps * rows_.dims() : 0);
  const bool row_fits = slot.seen.empty() || slot.seen.size() == rows_.num_features();
  if (!reader.empty() || !fits || !row_fits) { throw DataError("env state: not that of an env of this kind"); }
  slot.lost = false;
  slot.behind = slot.begun;
}

/// Brings the envs of a range that were loaded to where they were.
void ProcessEnv::catch_up(EnvRange range) {
  std::vector<std::size_t> envs;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    if (slots_[i].behind) { envs.push_back(i); }
  }
  if (envs.empty()) { return; }
  for (const std::size_t i : envs) {
    slots_[i].behind = false;
    slots_[i].lost = !slots_[i].complete;
    rows_.seed(i) = slots_[i].seed_of(slots_[i].episode);
    give(i, Order::reset);
  }
  ring(range);
  await(range);
  repeat_actions(envs);
  for (const std::size_t i : envs) {
    std::ranges::copy(rows_.obs(i), last_obs_.begin() + i * rows_.num_features());
    compare_with_saved(i);
    if (slots_[i].lost) {
      const std::scoped_lock lock(incidents_mutex_);
      incidents_.push_back(
          {.message = fmt::format("env {}: its episode {} could not be brought back by taking its "
                                  "actions again, and is discarded; is the env deterministic?",
                                  i, slots_[i].episode),
           .replay = "",
           .replay_name = ""});
    }
  }
}

/// Says so when an env that has taken its actions again shows another row than it did.
void ProcessEnv::compare_with_saved(std::size_t env) {
  const Slot& slot = slots_[env];
  if (slot.lost || slot.seen.empty() || std::ranges::equal(slot.seen, rows_.obs(env))) { return; }
  if (told_of_inexact_.exchange(true)) { return; }
  const auto [then, now] = std::ranges::mismatch(slot.seen, rows_.obs(env));
  const std::scoped_lock lock(incidents_mutex_);
  incidents_.push_back(
      {.message = fmt::format(
           "env {} of {} is not where it was: after its {} actions were taken again, number {} of "
           "its observation is {}, was {}. The env or a wrapper of it keeps state over episodes, as "
           "gymnasium's NormalizeObservation does, or draws numbers that do not follow from the "
           "seed: the resumed run is not the one that was stopped. Use normalise.obs and "
           "normalise.reward instead of such wrappers",
           options_.envs.first + env, options_.id, slot.steps, then - slot.seen.begin(), *now,
           *then),
       .replay = "",
       .replay_name = ""});
}

/// All of them side by side, one action after another.
void ProcessEnv::repeat_actions(const std::vector<std::size_t>& envs) {
  const std::size_t dims = rows_.dims();
  const auto usable = [this](std::size_t i) {
    return rows_.answer(i) == Answer::ok && !rows_.terminated(i) && !rows_.truncated(i);
  };
  for (const std::size_t i : envs) {
    rows_.terminated(i) = rows_.truncated(i) = false;
    slots_[i].lost = slots_[i].lost || rows_.answer(i) != Answer::ok;
  }
  for (std::int64_t step = 0;; ++step) {
    bool any = false;
    for (const std::size_t i : envs) {
      Slot& slot = slots_[i];
      if (slot.lost || step >= slot.steps) { continue; }
      any = true;
      const std::size_t first = step * dims;
      write_action(
          i, 0,
          rows_.continuous()
              ? ActionRows{.choices = {}, .points = std::span(slot.points).subspan(first)}
              : ActionRows{.choices = std::span(slot.choices).subspan(first), .points = {}});
      rows_.seed(i) = slot.seed_of(slot.next_episode);
      give(i, Order::step);
    }
    if (!any) { return; }
    const EnvRange range{envs.front(), envs.back() + 1};
    ring(range);
    await(range);
    for (const std::size_t i : envs) {
      if (step < slots_[i].steps && !usable(i)) { slots_[i].lost = true; }
    }
  }
}

}  // namespace penstock
