#include "penstock/core/contract/contract.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <stdexcept>
#include <thread>

#include "penstock/core/base/random.h"
#include "penstock/core/env/batched_env.h"

namespace penstock {
namespace {

/// A walk on noisy ground, of random length; keeps every promise.
class Walk {
 public:
  struct Config {
    std::int64_t max_steps = 20;
    template <class Visitor>
    void fields(Visitor& visit) {
      visit("max_steps", max_steps, "steps of an episode at most", Range{1, 1000});
    }
  };
  explicit Walk(const Config& config) : config_(config) {}

  [[nodiscard]] EnvSpec spec() const {
    EnvSpec spec{.action = Discrete{3, true}, .max_episode_steps = config_.max_steps};
    spec.obs.append("place", {2});
    spec.obs.append("ground", {1}, {{0, "ground", 4}});
    return spec;
  }
  void reset(std::uint64_t seed, Row row) {
    random_ = Random({.seed = seed});
    place_ = random_.uniform_float();
    observe(row);
  }
  Outcome step(std::int64_t action, Row row) {
    place_ += static_cast<float>(action) - 1 + random_.uniform_float();
    observe(row);
    return {.reward = place_, .terminated = place_ > 10};
  }
  template <class Archive>
  void state(Archive& archive) {
    archive(place_, random_);
  }

 private:
  void observe(Row row) {
    row.obs[0] = place_;
    row.obs[1] = 1;
    row.obs[2] = static_cast<float>(random_.below(4));
    row.legal[0] = place_ > 0;
  }

  Config config_;
  float place_ = 0;
  Random random_{RandomKey{}};
};

/// What can be wrong with an env, one promise each.
enum class Flaw {
  none,
  no_doc,
  same_names,
  flat_box,
  endless_box,
  reset_unwritten,
  obs_unwritten,
  reward_not_finite,
  nothing_legal,
  unknown_name,
  no_end,
  too_late,
  wrong_length,
  wrong_total,
  no_final_obs,
  early_final_obs,
  max_steps_ignored,
  unseeded,
  one_seed,
  saves_a_counter,
  load_forgets,
  takes_short_bytes,
  takes_long_bytes,
  counts_calls,
  forgets_its_number,
  knows_its_thread,
  throws,
};

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

EnvSpec flawed(EnvSpec spec, Flaw flaw) {
  constexpr float kMax = std::numeric_limits<float>::max();
  if (flaw == Flaw::same_names) { spec.obs.append("place", {1}); }
  if (flaw == Flaw::flat_box) { spec.action = Box{{0}, {0}}; }
  if (flaw == Flaw::endless_box) { spec.action = Box{{-kMax}, {kMax}}; }
  if (flaw == Flaw::no_end) { spec.max_episode_steps = 0; }
  if (flaw == Flaw::too_late) { spec.max_episode_steps -= 1; }
  if (flaw == Flaw::max_steps_ignored) { spec.max_episode_steps = 20; }
  return spec;
}

/// A batch of walks with a flaw put in from the outside.
class FlawedEnv final : public VecEnv {
 public:
  FlawedEnv(const Walk::Config& config, EnvSlice slice, std::uint64_t seed, Flaw flaw)
      : flaw_(flaw),
        good_(config, flaw == Flaw::forgets_its_number ? EnvSlice{0, slice.count} : slice,
              flaw == Flaw::one_seed ? 1 : seed),
        spec_(flawed(good_.spec(), flaw)) {}

  [[nodiscard]] const EnvSpec& spec() const override { return spec_; }
  [[nodiscard]] std::size_t num_envs() const override { return good_.num_envs(); }
  void seed(std::size_t env, std::uint64_t seed) override { good_.seed(env, seed); }

  void reset(EnvRange range, ObsRows next) override {
    good_.reset(range, masked(range, next));
    if (flaw_ == Flaw::reset_unwritten) { next.obs[0] = kNan; }
  }

  void step(EnvRange range, ActionRows actions, ObsRows next, OutcomeRows outcome) override {
    if (flaw_ == Flaw::throws) { throw std::runtime_error("the walker fell"); }
    good_.step(range, actions, masked(range, next), outcome);
    ++calls_;
    spoil_rows(next);
    for (std::size_t k = 0; k < range.size(); ++k) { spoil_outcome(outcome, k); }
  }

  void save(std::size_t env, std::vector<std::byte>& out) const override {
    static unsigned char num_saves = 0;
    good_.save(env, out);
    if (flaw_ == Flaw::saves_a_counter) { out.push_back(std::byte{++num_saves}); }
  }
  void load(std::size_t env, std::span<const std::byte> bytes) override {
    if (flaw_ == Flaw::load_forgets) { return load_in_vain(env, bytes); }
    if (flaw_ == Flaw::saves_a_counter && !bytes.empty()) { bytes = bytes.first(bytes.size() - 1); }
    std::vector<std::byte> own;
    good_.save(env, own);
    if (flaw_ == Flaw::takes_short_bytes && bytes.size() < own.size()) { return; }
    if (flaw_ == Flaw::takes_long_bytes && bytes.size() > own.size()) { return; }
    good_.load(env, bytes);
  }

 private:
  /// The walks write masks, also where the flaw is a box, which has none.
  [[nodiscard]] ObsRows masked(EnvRange range, ObsRows next) const {
    if (next.legal.empty()) { next.legal = {&spare_[range.begin * 3], range.size() * 3}; }
    return next;
  }

  /// Keeps the state that it has, but refuses what is not one.
  void load_in_vain(std::size_t env, std::span<const std::byte> bytes) {
    std::vector<std::byte> own;
    good_.save(env, own);
    good_.load(env, bytes);
    good_.load(env, own);
  }

  void spoil_rows(ObsRows next) {
    static std::atomic<int> all_calls = 0;
    if (flaw_ == Flaw::obs_unwritten) { next.obs[0] = kNan; }
    if (flaw_ == Flaw::nothing_legal) { std::ranges::fill(next.legal, false); }
    if (flaw_ == Flaw::unknown_name) { next.obs[2] = 4; }
    if (flaw_ == Flaw::unseeded) { next.obs[1] = static_cast<float>(++all_calls); }
    if (flaw_ == Flaw::counts_calls) { next.obs[1] = static_cast<float>(calls_); }
    if (flaw_ == Flaw::knows_its_thread && std::this_thread::get_id() != maker_) {
      next.obs[1] = 2;
    }
  }

  void spoil_outcome(OutcomeRows outcome, std::size_t k) const {
    const bool ended = outcome.terminated[k] || outcome.truncated[k];
    const auto final_obs = outcome.final_obs.subspan(k * spec_.obs.size(), spec_.obs.size());
    if (flaw_ == Flaw::reward_not_finite) { outcome.reward[k] = kNan; }
    if (flaw_ == Flaw::no_end) { outcome.terminated[k] = outcome.truncated[k] = false; }
    if (flaw_ == Flaw::wrong_length) { ++outcome.episode[k].length; }
    if (flaw_ == Flaw::wrong_total) { outcome.episode[k].total_reward += 1; }
    if (flaw_ == Flaw::no_final_obs && ended) { std::ranges::fill(final_obs, kNan); }
    if (flaw_ == Flaw::early_final_obs && !ended) { std::ranges::fill(final_obs, 0.0F); }
  }

  Flaw flaw_;
  BatchedEnv<Walk> good_;
  EnvSpec spec_;
  std::unique_ptr<bool[]> spare_ = std::make_unique<bool[]>(num_envs() * 3);
  std::atomic<int> calls_ = 0;
  std::thread::id maker_ = std::this_thread::get_id();
};

class FlawedFactory final : public EnvFactory {
 public:
  explicit FlawedFactory(Flaw flaw) : flaw_(flaw) {}
  std::vector<Field> fields() override { return fields_of(config_, "env."); }
  [[nodiscard]] EnvSpec spec() const override { return flawed(Walk(config_).spec(), flaw_); }
  [[nodiscard]] std::unique_ptr<VecEnv> make_slice(EnvSlice slice,
                                                   std::uint64_t seed) const override {
    return std::make_unique<FlawedEnv>(config_, slice, seed, flaw_);
  }

 private:
  Flaw flaw_;
  Walk::Config config_;
};

EnvEntry walk_with(Flaw flaw) {
  return {"walk", flaw == Flaw::no_doc ? "" : "a walk",
          [flaw] { return std::make_unique<FlawedFactory>(flaw); }};
}

std::string broken(Flaw flaw, const ContractOptions& options = {}) {
  return broken_promises(check_contract(walk_with(flaw), options));
}

/// That the promise is among the broken ones, with this as what was found.
void check_found(Flaw flaw, const std::string& promise, const std::string& finding) {
  for (const Promise& each : check_contract(walk_with(flaw))) {
    if (each.text != promise) { continue; }
    CAPTURE(each.text);
    CAPTURE(each.broken);
    CHECK(each.broken.find(finding) != std::string::npos);
    CHECK_FALSE(each.kept());
    return;
  }
  FAIL("no promise: ", promise);
}

}  // namespace

TEST_CASE("an env without a flaw keeps every promise") {
  CHECK(broken(Flaw::none) == "");
  CHECK(check_contract(walk_with(Flaw::none)).size() == 19);
}

TEST_CASE("what is wrong with the spec is found") {
  check_found(Flaw::no_doc, "the catalog's line has a name and a doc line", "no doc line");
  check_found(Flaw::same_names, "the parts of the layout tile the row", "taken twice");
  check_found(Flaw::flat_box, "actions can be drawn", "low not below high");
  check_found(Flaw::endless_box, "actions can be drawn", "not finite");
}

TEST_CASE("what is wrong with rows is found, with env, seed and step") {
  const std::string finite = "rows and rewards are finite";
  check_found(Flaw::reset_unwritten, finite, "env 0, seed 5, step 0: the row is not finite");
  check_found(Flaw::obs_unwritten, finite, "env 0, seed 5, step 1: the row is not finite");
  check_found(Flaw::reward_not_finite, finite, "env 0, seed 5, step 1: the reward is nan");
  check_found(Flaw::nothing_legal, "every choice has a legal alternative",
              "env 0, seed 5, step 1: ");
  check_found(Flaw::unknown_name, "places and names exist", "part ground holds 4");
}

TEST_CASE("what is wrong with ends is found") {
  check_found(Flaw::no_end, "episodes end", "no episode ended in 400 steps");
  check_found(Flaw::too_late, "no episode is longer than max_episode_steps",
              "the episode goes on after its 19 steps");
  check_found(Flaw::wrong_length, "an end reports the sums seen", "steps, seen were");
  check_found(Flaw::wrong_total, "an end reports the sums seen", "of reward, seen were");
  const std::string final_obs = "final_obs is written at ends, and only there";
  check_found(Flaw::no_final_obs, final_obs, "though the episode ended");
  check_found(Flaw::early_final_obs, final_obs, "env 0, seed 5, step 1: final_obs is written");
  check_found(Flaw::max_steps_ignored, "env.max_steps sets the limit", "spec() does not know");
}

TEST_CASE("what depends on more than seed and actions is found") {
  check_found(Flaw::unseeded, "the same seed gives the same bytes", "env 0, seed 5, step 1: ");
  check_found(Flaw::one_seed, "another seed gives other bytes", "seeds 5 and 6");
  check_found(Flaw::counts_calls, "ranges do not matter", "step 1: ");
  check_found(Flaw::forgets_its_number, "an env is the same in a slice of the run",
              "env 2, seed 5, step 0: it is another env");
  check_found(Flaw::knows_its_thread, "threads do not matter", "2 threads: env");
  CHECK(broken(Flaw::one_seed, {.seedless = true}) == "");
}

TEST_CASE("what is wrong with saving is found") {
  check_found(Flaw::saves_a_counter, "a loaded env saves the same bytes",
              "env 0, seed 5, step 37: it saves other bytes");
  check_found(Flaw::load_forgets, "an env saved in mid-episode goes on identically elsewhere",
              "env 0, seed 5, step 1: ");
  const std::string bytes = "bytes too short or too long are refused";
  check_found(Flaw::takes_short_bytes, bytes, "0 of ");
  check_found(Flaw::takes_long_bytes, bytes, " instead of ");
}

TEST_CASE("an env that throws breaks what was being checked") {
  check_found(Flaw::throws, "rows and rewards are finite", "the env threw: the walker fell");
}

TEST_CASE("the options set seed and length") {
  CHECK(broken(Flaw::obs_unwritten, {.seed = 9}).find("seed 9, step 1") != std::string::npos);
  CHECK(broken(Flaw::no_end, {.max_steps = 50}).find("in 50 steps") != std::string::npos);
}

TEST_CASE("an env with settings makes factories that have them") {
  const EnvEntry shorter = with_settings(walk_with(Flaw::none), {"env.max_steps=7"}, "test");
  CHECK(shorter.make_factory()->spec().max_episode_steps == 7);
  CHECK(shorter.name == "walk");
  CHECK_THROWS_AS(with_settings(walk_with(Flaw::none), {"env.max_step=7"}, "test").make_factory(),
                  ConfigError);
}

}  // namespace penstock
