#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/archive.h"
#include "penstock/base/random.h"
#include "penstock/env/vec_env.h"

namespace penstock {

/// A VecEnv made of copies of one simulator: the concept inside, one virtual call per block
/// outside.
template <Env E>
class BatchedEnv final : public VecEnv {
 public:
  BatchedEnv(const typename E::Config& config, std::size_t num_envs, std::uint64_t seed)
      : seed_(seed), spec_(E(config).spec()), own_seeds_(num_envs) {
    slots_.reserve(num_envs);
    for (std::size_t i = 0; i < num_envs; ++i) { slots_.emplace_back(config); }
  }

  [[nodiscard]] const EnvSpec& spec() const override { return spec_; }
  [[nodiscard]] std::size_t num_envs() const override { return slots_.size(); }

  void seed(std::size_t env, std::uint64_t seed) override {
    own_seeds_[env] = seed;
    slots_[env].episode = 0;
  }

  void reset(EnvRange range, ObsRows next) override {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      begin_episode(i, row(next, i - range.begin));
    }
  }

  void step(EnvRange range, ActionRows actions, ObsRows next, OutcomeRows outcome) override {
    const std::int64_t max_steps = spec_.max_episode_steps;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const std::size_t k = i - range.begin;
      Slot& slot = slots_[i];
      Row into = row(next, k);
      const Outcome result = act(slot.env, actions, k, into);
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
                  outcome.final_obs.begin() + static_cast<std::ptrdiff_t>(k * spec_.obs.size()));
        begin_episode(i, row(next, k));
      }
    }
  }

  void save(std::size_t env, std::vector<std::byte>& out) const override {
    StateWriter writer(out);
    // state() serves loading too and so is not const; writing changes nothing.
    const_cast<Slot&>(slots_[env]).state(writer);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }
  void load(std::size_t env, std::span<const std::byte> bytes) override {
    StateReader reader(bytes);
    slots_[env].state(reader);
    if (!reader.empty()) { throw DataError("env state: more bytes than this env has"); }
  }

 private:
  struct Slot {
    explicit Slot(const typename E::Config& config) : env(config) {}
    E env;
    std::uint64_t episode = 0;  // the number of the next one
    std::int64_t steps = 0;
    double total_reward = 0;

    template <class Archive>
    void state(Archive& archive) {
      archive(episode, steps, total_reward, env);
    }
  };

  /// The seed is a function of (run, env, episode), so threads cannot matter.
  void begin_episode(std::size_t i, Row row) {
    Slot& slot = slots_[i];
    slot.env.reset(next_seed(i), row);
    slot.steps = 0;
    slot.total_reward = 0;
  }

  std::uint64_t next_seed(std::size_t i) {
    const std::uint64_t episode = slots_[i].episode++;
    if (own_seeds_[i]) { return episode_seed(*own_seeds_[i], 0, episode); }
    return episode_seed(seed_, static_cast<std::uint32_t>(i), episode);
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
  EnvSpec spec_;
  std::vector<Slot> slots_;
  std::vector<std::optional<std::uint64_t>> own_seeds_;  // [N], of envs that were given one
};

/// A catalog line for a simulator:
///     catalog.envs.push_back(env_entry<MyEnv>("my_env", "what it is"));
template <Env E>
EnvEntry env_entry(std::string name, std::string doc) {
  class Factory final : public EnvFactory {
   public:
    std::vector<Field> fields() override { return fields_of(config_, "env."); }
    [[nodiscard]] EnvSpec spec() const override { return E(config_).spec(); }
    [[nodiscard]] std::unique_ptr<VecEnv> make(std::size_t num_envs,
                                               std::uint64_t seed) const override {
      return std::make_unique<BatchedEnv<E>>(config_, num_envs, seed);
    }

   private:
    typename E::Config config_;
  };
  return {std::move(name), std::move(doc), [] { return std::make_unique<Factory>(); }};
}

}  // namespace penstock
