#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/core/base/archive.h"
#include "penstock/core/base/random.h"
#include "penstock/core/env/vec_env.h"

namespace penstock {

namespace detail {

/// An episode in progress, as the seed and the actions that lead to where it is.
template <class Number>
struct ActionLog {
  bool begun = false;
  std::uint64_t seed = 0;
  std::vector<Number> actions;  // [steps, dims]

  template <class Archive>
  void state(Archive& archive) {
    archive(begun, seed, actions);
  }
};

/// That a log read from a file is one of an env with this spec, so that its actions may be taken.
/// Throws DataError.
void check_log(const ActionLog<std::int64_t>& log, std::int64_t steps, const ActionSpec& action);
void check_log(const ActionLog<float>& log, std::int64_t steps, const ActionSpec& action);

}  // namespace detail

/// A VecEnv made of copies of one simulator: the concept inside, one virtual call per block
/// outside.
///
/// A simulator without state() is saved as its episode's seed and actions, and load() takes these
/// again: it costs the time of the episode so far, and memory for its actions. load() throws
/// DataError when the rewards are then not those seen: the simulator is not deterministic.
template <Env E>
///
///     BatchedEnv<CartPole> envs(CartPole::Config{}, 64, 1);  // 64 copies, seed 1
///
/// The legal mask of a row is all true before the simulator is called, which then clears what is
/// illegal. An exception of a simulator leaves as an Error that names env, seed and step; see
/// report_failure().
class BatchedEnv final : public VecEnv {
 public:
  /// Every copy is made from the same config. Throws ConfigError when the spec does not fit step().
  BatchedEnv(const typename E::Config& config, std::size_t num_envs, std::uint64_t seed)
      : BatchedEnv(config, EnvSlice{.first = 0, .count = num_envs}, seed) {}
  BatchedEnv(const typename E::Config& config, EnvSlice slice, std::uint64_t seed)
      : seed_(seed), first_(slice.first), spec_(E(config).spec()), own_seeds_(slice.count) {
    check_spec(spec_, detail::TakesChoice<E>    ? StepKind::choice
                      : detail::TakesChoices<E> ? StepKind::choices
                                                : StepKind::point);
    slots_.reserve(slice.count);
    for (std::size_t i = 0; i < slice.count; ++i) { slots_.emplace_back(config); }
  }

  [[nodiscard]] const EnvSpec& spec() const override { return spec_; }
  [[nodiscard]] std::size_t num_envs() const override { return slots_.size(); }

  /// From the next episode on; the one in progress is not touched.
  void seed(std::size_t env, std::uint64_t seed) override {
    own_seeds_[env] = seed;
    slots_[env].episode = 0;
  }

  void reset(EnvRange range, ObsRows next) override {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      begin_episode(i, row(next, i - range.begin));
    }
  }

  /// Truncates at spec().max_episode_steps by itself. Actions are taken as they are: whoever chose
  /// them keeps them in range.
  void step(EnvRange range, ActionRows actions, ObsRows next, OutcomeRows outcome) override {
    const std::int64_t max_steps = spec_.max_episode_steps;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const std::size_t k = i - range.begin;
      Slot& slot = slots_[i];
      Row into = row(next, k);
      const Outcome result = act(i, actions, k, into);
      if constexpr (!kListsState) { note_action(slot, actions, k); }
      slot.total_reward += result.reward;
      ++slot.steps;
      const bool truncated = result.truncated || (max_steps > 0 && slot.steps >= max_steps);
      outcome.reward[k] = result.reward;
      outcome.terminated[k] = result.terminated;
      outcome.truncated[k] = truncated;
      if (result.terminated || truncated) {
        outcome.episode[k] = {slot.total_reward, slot.steps, result.success};
        if constexpr (detail::HasStats<E>) {
          slot.env.episode_stats(std::span(outcome.episode[k].stats).first(spec_.stats.size()));
        }
        std::copy(into.obs.begin(), into.obs.end(),
                  outcome.final_obs.begin() + k * spec_.obs.size());
        begin_episode(i, row(next, k));
      }
    }
  }

  /// Appends. The size is the simulator's, or grows with the episode where actions are kept.
  void save(std::size_t env, std::vector<std::byte>& out) const override {
    StateWriter writer(out);
    writer(slots_[env]);
  }
  void load(std::size_t env, std::span<const std::byte> bytes) override {
    StateReader reader(bytes);
    slots_[env].state(reader);
    if (!reader.empty()) { throw DataError("env state: more bytes than this env has"); }
    if constexpr (!kListsState) { replay(env); }
  }

 private:
  static constexpr bool kListsState = detail::ListsState<E>;
  static constexpr bool kTakesPoint = !detail::TakesChoice<E> && !detail::TakesChoices<E>;
  struct NoLog {};
  using Log =
      std::conditional_t<kListsState, NoLog,
                         detail::ActionLog<std::conditional_t<kTakesPoint, float, std::int64_t>>>;

  struct Slot {
    explicit Slot(const typename E::Config& config) : env(config) {}
    E env;
    std::uint64_t episode = 0;  // the number of the next one
    std::int64_t steps = 0;     // of the episode in progress
    double total_reward = 0;
    [[no_unique_address]] Log log = {};

    template <class Archive>
    void state(Archive& archive) {
      if constexpr (kListsState) {
        archive(episode, steps, total_reward, env);
      } else {
        archive(episode, steps, total_reward, log);
      }
    }
  };

  /// The seed is a function of (run, env, episode), so threads cannot matter.
  void begin_episode(std::size_t i, Row row) {
    Slot& slot = slots_[i];
    const std::uint64_t seed = next_seed(i);
    reset_env(i, seed, row);
    slot.steps = 0;
    slot.total_reward = 0;
    if constexpr (!kListsState) {
      slot.log.begun = true;
      slot.log.seed = seed;
      slot.log.actions.clear();
    }
  }

  void reset_env(std::size_t i, std::uint64_t seed, Row row) {
    try {
      slots_[i].env.reset(seed, row);
    } catch (const std::exception& error) { report_failure(first_ + i, seed, 0, error.what()); }
  }

  void note_action(Slot& slot, ActionRows actions, std::size_t k) const {
    const std::size_t dims = spec_.action.dims();
    const auto all = [&] {
      if constexpr (kTakesPoint) {
        return actions.points;
      } else {
        return actions.choices;
      }
    }();
    const auto taken = all.subspan(k * dims, dims);
    slot.log.actions.insert(slot.log.actions.end(), taken.begin(), taken.end());
  }

  /// Brings a loaded env to where it was. The rows on the way are nobody's.
  void replay(std::size_t i) {
    const Slot& slot = slots_[i];
    detail::check_log(slot.log, slot.steps, spec_.action);
    if (!slot.log.begun) { return; }
    std::vector<float> obs(spec_.obs.size());
    const auto legal = std::make_unique<bool[]>(spec_.action.num_actions());
    const ObsRows scratch{obs, {legal.get(), spec_.action.num_actions()}};
    ActionRows actions;
    if constexpr (kTakesPoint) {
      actions.points = slot.log.actions;
    } else {
      actions.choices = slot.log.actions;
    }
    reset_env(i, slot.log.seed, row(scratch, 0));
    double total_reward = 0;  // while the log is replayed
    for (std::int64_t t = 0; t < slot.steps; ++t) {
      total_reward += act(i, actions, t, row(scratch, 0)).reward;
    }
    if (total_reward != slot.total_reward) {
      throw DataError("env state: the actions of env " + std::to_string(first_ + i) +
                      ", taken again, brought another reward; is the env deterministic?");
    }
  }

  std::uint64_t next_seed(std::size_t i) { return seed_of(i, slots_[i].episode++); }

  [[nodiscard]] std::uint64_t seed_of(std::size_t i, std::uint64_t episode) const {
    if (own_seeds_[i]) { return episode_seed(*own_seeds_[i], 0, episode); }
    return episode_seed(seed_, static_cast<std::uint32_t>(first_ + i), episode);
  }

  Row row(ObsRows rows, std::size_t k) const {
    const std::size_t features = spec_.obs.size();
    Row out{rows.obs.subspan(k * features, features), {}};
    if (spec_.action.masked()) {
      const std::size_t width = spec_.action.num_actions();
      out.legal = rows.legal.subspan(k * width, width);
      std::fill(out.legal.begin(), out.legal.end(), true);
    }
    return out;
  }

  /// What an env throws is told with where it happened.
  Outcome act(std::size_t i, ActionRows actions, std::size_t k, Row into) {
    Slot& slot = slots_[i];
    try {
      return act(slot.env, actions, k, into);
    } catch (const std::exception& error) {
      report_failure(first_ + i, seed_of(i, slot.episode - 1), slot.steps + 1, error.what());
    }
  }

  Outcome act(E& env, ActionRows actions, std::size_t k, Row into) const {
    const std::size_t dims = spec_.action.dims();
    if constexpr (detail::TakesChoice<E>) {
      return env.step(actions.choices[k], into);
    } else if constexpr (detail::TakesChoices<E>) {
      return env.step(actions.choices.subspan(k * dims, dims), into);
    } else {
      return env.step(actions.points.subspan(k * dims, dims), into);
    }
  }

  std::uint64_t seed_;
  std::size_t first_;  // the number of env 0 in the run
  EnvSpec spec_;
  std::vector<Slot> slots_;
  std::vector<std::optional<std::uint64_t>> own_seeds_;  // [N], of envs that were given one
};

/// A catalog line for a simulator:
///     catalog.envs.push_back(env_entry<MyEnv>("my_env", "what it is"));
template <Env E>
/// A factory keeps the config that its keys set; envs that it made before are not touched.
EnvEntry env_entry(std::string name, std::string doc) {
  class Factory final : public EnvFactory {
   public:
    std::vector<Field> fields() override { return fields_of(config_, "env."); }
    [[nodiscard]] EnvSpec spec() const override { return E(config_).spec(); }
    [[nodiscard]] std::unique_ptr<VecEnv> make_slice(EnvSlice slice,
                                                     std::uint64_t seed) const override {
      return std::make_unique<BatchedEnv<E>>(config_, slice, seed);
    }

   private:
    typename E::Config config_;
  };
  return {std::move(name), std::move(doc), [] { return std::make_unique<Factory>(); }};
}

}  // namespace penstock
