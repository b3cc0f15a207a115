#include <doctest/doctest.h>

#include <memory>

#include "penstock/core/base/random.h"
#include "penstock/core/contract/contract.h"
#include "penstock/core/env/batched_env.h"

namespace penstock::replayed_test {
namespace {

/// A simulator whose state is nobody's business; movable, not copyable.
class Vendor {
 public:
  struct Config {
    std::int64_t max_steps = 60;
    template <class Visitor>
    void fields(Visitor& visit) {
      visit("max_steps", max_steps, "steps of an episode at most", Range{1, 1000});
    }
  };
  explicit Vendor(const Config& config) : max_steps_(config.max_steps) {}

  void reset(std::uint64_t seed, Row row) {
    hidden_ = std::make_unique<Random>(RandomKey{.seed = seed});
    place_ = 0;
    row.obs[0] = place_;
  }

 protected:
  Outcome move(float by, Row row) {
    place_ += by + hidden_->uniform_float();
    row.obs[0] = place_;
    return {.reward = place_, .terminated = place_ > 30};
  }
  std::int64_t max_steps_;
  float place_ = 0;

 private:
  std::unique_ptr<Random> hidden_;
};

struct ChoiceEnv : Vendor {
  using Vendor::Vendor;
  [[nodiscard]] EnvSpec spec() const { return {Layout(1), Discrete{3, true}, max_steps_}; }
  Outcome step(std::int64_t action, Row row) {
    row.legal[0] = place_ > 1;
    return move(static_cast<float>(action), row);
  }
};

struct ChoicesEnv : Vendor {
  using Vendor::Vendor;
  [[nodiscard]] EnvSpec spec() const { return {Layout(1), MultiDiscrete{{2, 3}}, max_steps_}; }
  Outcome step(std::span<const std::int64_t> action, Row row) {
    return move(static_cast<float>(action[0] - action[1]), row);
  }
};

struct PointEnv : Vendor {
  using Vendor::Vendor;
  [[nodiscard]] EnvSpec spec() const { return {Layout(1), Box{{-1, 0}, {1, 2}}, max_steps_}; }
  Outcome step(std::span<const float> action, Row row) { return move(action[0] * action[1], row); }
};

/// Draws from what no seed sets.
struct UnseededEnv : Vendor {
  using Vendor::Vendor;
  [[nodiscard]] EnvSpec spec() const { return {Layout(1), Discrete{3}, max_steps_}; }
  Outcome step(std::int64_t /*action*/, Row row) {
    static int calls = 0;
    return move(static_cast<float>(++calls), row);
  }
};

template <Env E>
std::string broken() {
  return broken_promises(check_contract(env_entry<E>("vendor", "a simulator without state()")));
}

/// One env after two steps of action 1.
template <Env E>
std::vector<std::byte> saved_after_two_steps(BatchedEnv<E>& env) {
  std::vector<float> obs(1);
  std::vector<float> final_obs(1);
  float reward = 0;
  bool terminated = false;
  bool truncated = false;
  EpisodeEnd end;
  const std::vector<std::int64_t> choice{1};
  env.reset({0, 1}, {obs, {}});
  for (int t = 0; t < 2; ++t) {
    env.step({0, 1}, {choice, {}}, {obs, {}},
             {{&reward, 1}, {&terminated, 1}, {&truncated, 1}, final_obs, {&end, 1}});
  }
  std::vector<std::byte> bytes;
  env.save(0, bytes);
  return bytes;
}

struct PlainEnv : Vendor {
  using Vendor::Vendor;
  [[nodiscard]] EnvSpec spec() const { return {Layout(1), Discrete{3}, max_steps_}; }
  Outcome step(std::int64_t action, Row row) { return move(static_cast<float>(action), row); }
};

}  // namespace

TEST_CASE("a simulator without state() keeps the contract, by its seed and actions") {
  static_assert(!detail::ListsState<ChoiceEnv>);
  SUBCASE("discrete, masked") { CHECK(broken<ChoiceEnv>() == ""); }
  SUBCASE("multi-discrete") { CHECK(broken<ChoicesEnv>() == ""); }
  SUBCASE("box") { CHECK(broken<PointEnv>() == ""); }
}

TEST_CASE("an env that was not reset is saved and loaded as such") {
  BatchedEnv<PlainEnv> env({}, 1, 3);
  std::vector<std::byte> bytes;
  env.save(0, bytes);
  BatchedEnv<PlainEnv> copy({}, 1, 3);
  copy.load(0, bytes);
  CHECK(saved_after_two_steps(copy) == saved_after_two_steps(env));
}

TEST_CASE("the episode's own seed is saved, whoever gave it") {
  BatchedEnv<PlainEnv> env({}, 1, 3);
  env.seed(0, 99);
  const std::vector<std::byte> bytes = saved_after_two_steps(env);
  BatchedEnv<PlainEnv> copy({}, 1, 4);
  CHECK_NOTHROW(copy.load(0, bytes));
  std::vector<std::byte> again;
  copy.save(0, again);
  CHECK(again == bytes);
}

TEST_CASE("actions that the env does not have are refused before they are taken") {
  BatchedEnv<PlainEnv> env({}, 1, 3);
  std::vector<std::byte> bytes = saved_after_two_steps(env);
  bytes[bytes.size() - sizeof(std::int64_t)] = std::byte{3};
  CHECK_THROWS_WITH_AS(env.load(0, bytes), doctest::Contains("the actions are not those"),
                       DataError);
}

TEST_CASE("a simulator that is not deterministic is found out when it is loaded") {
  BatchedEnv<UnseededEnv> env({}, 1, 3);
  const std::vector<std::byte> bytes = saved_after_two_steps(env);
  CHECK_THROWS_WITH_AS(env.load(0, bytes), doctest::Contains("is the env deterministic?"),
                       DataError);
  CHECK(broken<UnseededEnv>().find("the same seed gives the same bytes: ") == 0);
}

}  // namespace penstock::replayed_test
