#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "envs/python/slot.h"
#include "penstock/core/base/archive.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/text.h"
#include "penstock/envs/python/process_env.h"

// A checkpoint of an env is its episode's seed and actions; loading takes the actions again. The
// row that they led to is saved too: an env that keeps state over episodes now shows another.

namespace penstock {

namespace {

/// A file that is gone with the object.
class StateFile {
 public:
  StateFile() : path_((std::filesystem::temp_directory_path() / "penstock-state-XXXXXX").string()) {
    const int fd = ::mkstemp(path_.data());
    if (fd < 0) { throw IoError(fmt::format("{}: {}", path_, system_text(errno))); }
    ::close(fd);
  }
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;
  ~StateFile() { ::unlink(path_.c_str()); }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }

 private:
  std::string path_;
};

}  // namespace

void ProcessEnv::save(std::size_t env, std::vector<std::byte>& out) const {
  StateWriter writer(out);
  const Slot& slot = slots_[env];
  writer(slot);
  if (slot.behind) {  // loaded, and not stepped since
    writer(slot.seen, slot.own_state);
    return;
  }
  const auto row = std::span(last_obs_).subspan(env * rows_.num_features(), rows_.num_features());
  writer(std::vector<float>(row.begin(), row.end()));
  // Asking an env changes nothing that shows.
  writer(const_cast<ProcessEnv*>(this)->own_state(env));  // NOLINT(*-pro-type-const-cast)
}

void ProcessEnv::load(std::size_t env, std::span<const std::byte> bytes) {
  StateReader reader(bytes);
  Slot& slot = slots_[env];
  slot.state(reader);
  slot.seen.clear();
  slot.own_state.clear();
  if (!reader.empty()) { reader(slot.seen, slot.own_state); }  // absent in older checkpoints
  const std::size_t taken = rows_.continuous() ? slot.points.size() : slot.choices.size();
  const bool fits = slot.steps >= 0 && taken == (slot.complete ? slot.steps * rows_.dims() : 0);
  const bool row_fits = slot.seen.empty() || slot.seen.size() == rows_.num_features();
  if (!reader.empty() || !fits || !row_fits) {
    throw DataError("env state: not that of an env of this kind");
  }
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
    slots_[i].repeated_reward = 0;
    rows_.seed(i) = slots_[i].seed_of(slots_[i].episode);
    give(i, Order::reset);
  }
  ring(range);
  await(range);
  repeat_actions(envs);
  for (const std::size_t i : envs) {
    std::ranges::copy(rows_.obs(i), last_obs_.begin() + i * rows_.num_features());
    if (!give_state_back(i)) { compare_with_saved(i); }
    if (slots_[i].lost) {
      remark(
          fmt::format("env {}: its episode {} could not be brought back by taking its actions "
                      "again, and is discarded; is the env deterministic?",
                      i, slots_[i].episode));
    }
  }
}

void ProcessEnv::remark(const std::string& message) {
  const std::scoped_lock lock(incidents_mutex_);
  incidents_.push_back({.message = printable(message), .replay = "", .replay_name = ""});
}

/// Order::keep or Order::restore with a file; whether it was carried out.
bool ProcessEnv::carry_state(std::size_t env, Order order, const std::string& path) {
  const std::span<char> message = rows_.message(env);
  message[path.copy(message.data(), message.size() - 1)] = 0;
  give(env, order);
  ring({env, env + 1});
  await({env, env + 1});
  if (rows_.answer(env) == Answer::failed) {
    remark(fmt::format("env {} of {}: {}: {}", options_.envs.first + env, options_.id,
                       order == Order::keep ? "get_state()" : "set_state()",
                       rows_.message(env).data()));
  }
  return rows_.answer(env) == Answer::ok;
}

/// What the env says of itself; empty where it keeps no state.
std::string ProcessEnv::own_state(std::size_t env) {
  if (!options_.keeps_state || !slots_[env].begun) { return {}; }
  const StateFile file;
  return carry_state(env, Order::keep, file.path()) ? file.read() : std::string();
}

/// After the actions were taken again, which brings back what the env does not tell.
bool ProcessEnv::give_state_back(std::size_t env) {
  Slot& slot = slots_[env];
  if (slot.lost || slot.own_state.empty() || slot.seen.empty()) { return false; }
  const StateFile file;
  file.write(slot.own_state);
  if (!carry_state(env, Order::restore, file.path())) { return false; }
  std::ranges::copy(slot.seen, last_obs_.begin() + env * rows_.num_features());
  return true;
}

/// Says so when an env that has taken its actions again shows another row than it did, or other
/// rewards.
void ProcessEnv::compare_with_saved(std::size_t env) {
  const Slot& slot = slots_[env];
  const bool same_row = slot.seen.empty() || std::ranges::equal(slot.seen, rows_.obs(env));
  if (slot.lost || (same_row && slot.repeated_reward == slot.total_reward)) { return; }
  if (told_of_inexact_.exchange(true)) { return; }
  std::string what =
      fmt::format("its rewards add up to {}, were {}", slot.repeated_reward, slot.total_reward);
  if (!same_row) {
    const auto [then, now] = std::ranges::mismatch(slot.seen, rows_.obs(env));
    what = fmt::format("number {} of its observation is {}, was {}", then - slot.seen.begin(), *now,
                       *then);
  }
  remark(fmt::format(
      "env {} of {} is not where it was: after its {} actions were taken again, {}. The env or a "
      "wrapper of it keeps state over episodes, as gymnasium's NormalizeObservation does, or draws "
      "numbers that do not follow from the seed: the resumed run is not the one that was stopped. "
      "Use normalise.obs and normalise.reward instead of such wrappers, or give them get_state() "
      "and set_state(state)",
      options_.envs.first + env, options_.id, slot.steps, what));
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
      if (step >= slots_[i].steps) { continue; }
      slots_[i].repeated_reward += rows_.reward(i);
      if (!usable(i)) { slots_[i].lost = true; }
    }
  }
}

}  // namespace penstock
