#include "penstock/core/act/policy_model.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "penstock/core/base/errors.h"
#include "penstock/core/store/safetensors.h"
#include "support.h"

namespace penstock {
namespace {

std::shared_ptr<const PolicyModel> some_model(const EnvSpec& spec, bool squash, double clip_obs) {
  const auto shape = test::linear_shape(spec, squash, clip_obs);
  test::Weights weights{*shape};
  for (const ParameterSlot& slot : shape->slots) {
    for (std::int64_t i = 0; i < slot.size; ++i) {
      weights.flat[static_cast<std::size_t>(slot.offset + i)] =
          std::sin(static_cast<float>(slot.offset + 3 * i));
    }
  }
  ObsNormaliser normaliser;
  if (clip_obs > 0) {
    normaliser = ObsNormaliser(spec.obs, clip_obs);
    std::vector<Moments> moments(spec.obs.size(), {3, 0.25, 7});
    normaliser.set_moments(moments);
  }
  return std::make_shared<PolicyModel>(shape, weights.flat, normaliser, 12);
}

/// Both actors say the same of a row, to the bit.
void check_same(const std::shared_ptr<const PolicyModel>& a,
                const std::shared_ptr<const PolicyModel>& b) {
  const EnvSpec& spec = a->spec();
  std::vector<float> obs(spec.obs.size());
  for (std::size_t i = 0; i < obs.size(); ++i) { obs[i] = std::cos(static_cast<float>(i)); }
  const std::size_t dims = spec.action.dims();
  const bool box = spec.action.continuous();
  const ActionNoise noise{.seed = 5, .first_env = 1, .step = 2};
  std::vector<std::vector<float>> said;
  std::vector<std::vector<std::int64_t>> chosen;
  for (const auto& model : {a, b}) {
    std::vector<float> floats(dims + 2);
    std::vector<std::int64_t> choices(box ? 0 : dims);
    const std::span<float> all(floats);
    make_actor(model)->act({.count = 1, .obs = obs},
                           {.choices = choices,
                            .env_points = box ? all.first(dims) : std::span<float>(),
                            .log_prob = all.subspan(dims, 1),
                            .value = all.subspan(dims + 1, 1)},
                           &noise);
    said.push_back(floats);
    chosen.push_back(choices);
  }
  CHECK(said[0] == said[1]);
  CHECK(chosen[0] == chosen[1]);
}

TEST_CASE("a policy file gives the same policy again") {
  const test::PolicyFolder folder;
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<EnvSpec> specs = {
      {.obs = Layout(4), .action = Discrete{3, true}, .max_episode_steps = 9},
      {.obs = Layout({{"clock", {1}}, {"grid", {2, 3}}}), .action = MultiDiscrete{{2, 5}, false}},
      {.obs = Layout(2), .action = Box{{-1, -inf}, {1, inf}}},
  };
  for (const EnvSpec& spec : specs) {
    for (const double clip : {0.0, 10.0}) {
      const auto model = some_model(spec, false, clip);
      model->save(folder.file());
      const auto loaded = PolicyModel::load(folder.file());
      CHECK(loaded->version() == 12);
      CHECK(loaded->spec().obs.parts().size() == spec.obs.parts().size());
      CHECK(loaded->spec().action.masked() == spec.action.masked());
      CHECK(loaded->spec().max_episode_steps == spec.max_episode_steps);
      check_same(model, loaded);
    }
  }
}

TEST_CASE("a parameter that lies as its transpose is written by rows") {
  const test::PolicyFolder folder;
  const EnvSpec spec{.obs = Layout(2), .action = Discrete{3, false}};
  auto shape = test::linear_shape(spec);
  shape->slots[0].by_input = true;
  shape->mlp.reset();
  test::Weights weights{*shape};
  weights.set("actor.0.weight", {1, 2, 3, 4, 5, 6});  // [2 inputs][3 outputs]
  PolicyModel(shape, weights.flat, {}, 0).save(folder.file());
  const Safetensors file = Safetensors::read(folder.file());
  std::vector<float> rows(6);
  std::memcpy(rows.data(), file.at("actor.0.weight").data.data(), 24);
  CHECK(rows == std::vector<float>{1, 4, 2, 5, 3, 6});
  const auto loaded = PolicyModel::load(folder.file());
  CHECK(std::equal(weights.flat.begin(), weights.flat.end(), loaded->weights()));
}

TEST_CASE("what is not a policy file is refused by name, whatever it claims") {
  const test::PolicyFolder folder;
  CHECK_THROWS_AS(PolicyModel::load(folder / "none"), Error);
  save_safetensors(folder.file(), {}, {});
  CHECK_THROWS_WITH_AS(PolicyModel::load(folder.file()), doctest::Contains("not a policy file"),
                       DataError);
  const auto refused = [&](const std::string& header, const char* why) {
    save_safetensors(folder.file(), {}, {{"penstock.policy", header}});
    CHECK_THROWS_WITH_AS(PolicyModel::load(folder.file()), doctest::Contains(why), DataError);
  };
  refused("{", "policy.safetensors");
  refused(R"({"schema": 2})", "schema 2");
  refused(R"({"schema": 1, "obs": [], "action": {}})", "without parts");
  refused(
      R"({"schema": 1, "obs": [{"name": "x", "shape": [4000000000, 4000000000], "lookups": []}]})",
      "out of range");
  refused(R"({"schema": 1, "obs": [{"name": "x", "shape": [16777217], "lookups": []}]})",
          "out of range");
  refused(R"({"schema": 1, "obs": [{"name": "x", "shape": [16777216], "lookups": []},
                                   {"name": "y", "shape": [1], "lookups": []}]})",
          "out of range");
  const char* const kStart =
      R"({"schema": 1, "version": 0, "obs": [{"name": "x", "shape": [2], "lookups": []}],
          "action": {"kind": "discrete", "n": [2], "masked": false}, "max_episode_steps": 0,
          "squash": false, "clip_obs": 0, "parameters": )";
  const auto with = [&](const std::string& rest) { return std::string(kStart) + rest + "}"; };
  refused(with(R"([{"name": "w", "shape": [4000000000, 4000000000], "by_input": false}])"),
          "out of range");
  refused(with(R"([{"name": "w", "shape": [2], "by_input": true}])"), "not a matrix");
  refused(with(R"([{"name": "w", "shape": [2, 2], "by_input": false}],
                   "mlp": {"activation": "tanh", "trunk": [], "actor": ["actor.0"], "critic": [],
                   "log_std": false})"),
          "'actor.0.weight' is missing");
  refused(with(R"([{"name": "w", "shape": [2, 2], "by_input": false}],
                   "mlp": {"activation": "tanh", "trunk": ["a", "a"], "actor": [], "critic": [],
                   "log_std": false})"),
          "more layers than parameters");
  refused(with(R"([{"name": "w", "shape": [2, 2], "by_input": false}])"), "'w'");
  // Eight gigabytes, were they taken before the file is asked for them.
  refused(with(R"([{"name": "w", "shape": [30000, 70000], "by_input": false}])"), "'w'");
}

TEST_CASE("a policy file that lists a parameter twice is refused") {
  const test::PolicyFolder folder;
  const std::vector<float> numbers(2);
  const std::vector<TensorView> tensors = {
      {"w", Dtype::f32, {2}, std::as_bytes(std::span(numbers))}};
  save_safetensors(
      folder.file(), tensors,
      {{"penstock.policy",
        R"({"schema": 1, "version": 0, "obs": [{"name": "x", "shape": [2], "lookups": []}],
            "action": {"kind": "discrete", "n": [2], "masked": false}, "max_episode_steps": 0,
            "squash": false, "clip_obs": 0, "parameters": [
              {"name": "w", "shape": [2], "by_input": false},
              {"name": "w", "shape": [2], "by_input": false}]})"}});
  CHECK_THROWS_WITH_AS(PolicyModel::load(folder.file()), doctest::Contains("'w' is listed twice"),
                       DataError);
}

}  // namespace
}  // namespace penstock
