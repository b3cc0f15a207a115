#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "penstock/core/act/actor.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/store/safetensors.h"
#include "support.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

EnvSpec box_of_two() { return {.obs = Layout(3), .action = Box{{-1, -2}, {1, 2}}}; }

std::shared_ptr<const PolicyModel> box_model() {
  const auto shape = test::linear_shape(box_of_two(), false, 4);
  test::Weights weights{*shape};
  weights.set("actor.0.weight", {1, 0, 0, 0, 1, 0});
  weights.set("log_std", {-1, 0.5});
  ObsNormaliser normaliser(shape->spec.obs, 4);
  normaliser.set_moments({{4, 1, 16}, {4, 0, 4}, {0, 0, 0}});
  return std::make_shared<PolicyModel>(shape, weights.flat, normaliser, 3);
}

/// Writes a file again with a header or tensors that were changed.
using Tensors = std::vector<TensorView>;
using Change = std::function<void(Json& header, Tensors& tensors)>;
void rewrite(const std::string& path, const Change& change) {
  const Safetensors file = Safetensors::read(path);
  Json header = parse_json(file.metadata().at("penstock.policy"));
  Tensors tensors(file.tensors().begin(), file.tensors().end());
  change(header, tensors);
  save_safetensors(path + ".new", tensors, {{"penstock.policy", to_text(header)}});
  fs::rename(path + ".new", path);
}

void refuses_after(const Change& change, const char* why) {
  CAPTURE(why);
  const test::PolicyFolder folder;
  box_model()->save(folder.file());
  REQUIRE(PolicyModel::load(folder.file())->version() == 3);
  rewrite(folder.file(), change);
  CHECK_THROWS_WITH_AS(PolicyModel::load(folder.file()), doctest::Contains(why), DataError);
}

TensorView& tensor_named(Tensors& tensors, const std::string& name) {
  return *std::ranges::find(tensors, name, &TensorView::name);
}

TEST_CASE("a header that contradicts itself is refused with what is wrong") {
  refuses_after([](Json& h, Tensors&) { h["schema"] = 99; }, "schema 99");
  refuses_after([](Json& h, Tensors&) { h["schema"] = "1"; }, "type must be number");
  refuses_after([](Json& h, Tensors&) { h.erase("action"); }, "'action' not found");
  refuses_after([](Json& h, Tensors&) { h["obs"][0]["shape"] = {0}; }, "out of range");
  refuses_after([](Json& h, Tensors&) { h["obs"][0]["shape"] = {-3}; }, "out of range");
  refuses_after([](Json& h, Tensors&) { h["obs"] = Json::array(); }, "without parts");
  refuses_after([](Json& h, Tensors&) { h["action"]["low"] = {-1}; }, "differ in length");
  refuses_after([](Json& h, Tensors&) { h["action"]["low"] = h["action"]["high"] = Json::array(); },
                "empty");
  refuses_after(
      [](Json& h, Tensors&) {
        h["action"] = {{"kind", "discrete"}, {"n", {0}}, {"masked", false}};
      },
      "without alternatives");
  refuses_after([](Json& h, Tensors&) { h["action"]["kind"] = "boxes"; }, "unknown kind 'boxes'");
  refuses_after(
      [](Json& h, Tensors&) {
        h["action"] = {{"kind", "discrete"}, {"n", {2, 3}}, {"masked", false}};
      },
      "discrete actions of several choices");
  refuses_after([](Json& h, Tensors&) { h["mlp"]["activation"] = "gelu"; },
                "unknown activation 'gelu'");
}

TEST_CASE("a network that does not fit its observation or its actions is refused") {
  for (const int tokens : {0, 1, 2, 3}) {
    refuses_after([tokens](Json& h, Tensors&) { h["mlp"]["tokens"] = tokens; },
                  "tokens and actions disagree");
  }
  refuses_after([](Json& h, Tensors&) { h["obs"][0]["shape"] = {4}; }, "does not fit");
  refuses_after([](Json& h, Tensors&) { h["mlp"]["trunk"] = {"actor.0"}; }, "does not fit");
  refuses_after([](Json& h, Tensors&) { h["mlp"]["actor"] = Json::array(); },
                "outputs are not those");
  refuses_after([](Json& h, Tensors&) { h["mlp"]["actor"] = {"critic.0"}; },
                "outputs are not those");
  refuses_after([](Json& h, Tensors&) { h["mlp"]["critic"] = {"actor.0"}; },
                "outputs are not those");
  refuses_after([](Json& h, Tensors&) { h["mlp"]["log_std"] = false; }, "log_std");
  refuses_after(
      [](Json& h, Tensors&) {
        h["action"] = {{"kind", "discrete"}, {"n", {2}}, {"masked", false}};
      },
      "log_std and actions disagree");
  refuses_after(
      [](Json& h, Tensors&) {
        h["action"] = {{"kind", "multi_discrete"}, {"n", {2, 2}}, {"masked", false}};
      },
      "outputs are not those");
  refuses_after(
      [](Json& h, Tensors&) {
        h["mlp"]["skip"] = 2;  // two outputs from feature 2 on: one too many
        h["mlp"]["skip_scale"] = 1;
      },
      "net.skip");
  refuses_after([](Json& h, Tensors&) { h["parameters"][0]["by_input"] = true; },
                "by_input of a layer");
  refuses_after(
      [](Json& h, Tensors&) {
        h["obs"][0]["most"] = 2;  // the actor's only layer would have to look counts up
      },
      "counts are read by a head");
}

TEST_CASE("tensors that are missing or of another shape or type are refused by name") {
  refuses_after(
      [](Json&, auto& t) { std::erase_if(t, [](auto& x) { return x.name == "log_std"; }); },
      "log_std");
  refuses_after(
      [](Json&, auto& t) {
        tensor_named(t, "actor.0.weight").shape = {3, 2};
      },
      "'actor.0.weight' has another shape");
  refuses_after(
      [](Json&, auto& t) {
        TensorView& weight = tensor_named(t, "critic.0.weight");
        weight.dtype = Dtype::i32;
      },
      "'critic.0.weight' has another shape or type");
  refuses_after(
      [](Json&, auto& t) {
        tensor_named(t, "normaliser.obs").shape = {9, 1};
      },
      "'normaliser.obs'");
  refuses_after(
      [](Json&, auto& t) { std::erase_if(t, [](auto& x) { return x.name == "normaliser.obs"; }); },
      "normaliser.obs");
}

TEST_CASE("a policy file cut off anywhere is refused, never read beyond its end") {
  const test::PolicyFolder folder;
  box_model()->save(folder.file());
  std::ifstream in(folder.file(), std::ios::binary);
  std::stringstream bytes;
  bytes << in.rdbuf();
  const std::string whole = bytes.str();
  for (std::size_t size = 0; size < whole.size(); size += 37) {
    CAPTURE(size);
    std::ofstream(folder.file(), std::ios::binary) << whole.substr(0, size);
    CHECK_THROWS_AS(PolicyModel::load(folder.file()), Error);
  }
  std::ofstream(folder.file(), std::ios::binary) << whole;
  CHECK(PolicyModel::load(folder.file())->version() == 3);
}

TEST_CASE("the normaliser of a file is frozen with the moments it had") {
  const test::PolicyFolder folder;
  box_model()->save(folder.file());
  const auto loaded = PolicyModel::load(folder.file());
  std::vector<float> row = {7, -0.5F, 1000};
  loaded->normaliser().apply(row);
  CHECK(row[0] == doctest::Approx((7 - 1) / std::sqrt(16.0 / 4)));
  CHECK(row[1] == doctest::Approx(-0.5));
  CHECK(row[2] == doctest::Approx(4));  // nothing seen: mean 0, deviation 1, and the clip
}

TEST_CASE("an observation of names, places and numbers is the same layout again") {
  const test::PolicyFolder folder;
  Layout layout;
  layout.append("time", {1}, {});
  layout.append("rows", {4, 3}, {{.column = 1, .table = "zone", .num_names = 12}});
  auto shape = test::linear_shape({.obs = layout, .action = Discrete{2, false}});
  shape->mlp.reset();
  const std::vector<float> weights(static_cast<std::size_t>(shape->num_floats), 0.5F);
  PolicyModel(shape, weights, {}, 1).save(folder.file());
  const Layout again = PolicyModel::load(folder.file())->spec().obs;
  REQUIRE(again.parts().size() == 2);
  CHECK(again.parts()[1].name == "rows");
  CHECK(again.parts()[1].shape == std::vector<std::int64_t>{4, 3});
  REQUIRE(again.parts()[1].lookups.size() == 1);
  CHECK(again.parts()[1].lookups[0].column == 1);
  CHECK(again.parts()[1].lookups[0].table == "zone");
  CHECK(again.parts()[1].lookups[0].num_names == 12);
  CHECK(again.size() == layout.size());
  CHECK(again.names() == layout.names());
}

// ---- Heads, against the densities of the textbook

double normal_log_density(double x, double mean, double log_std) {
  const double z = (x - mean) / std::exp(log_std);
  return -0.5 * z * z - log_std - 0.5 * std::log(2 * std::acos(-1.0));
}

struct Drawn {
  std::vector<std::int64_t> choices;
  std::vector<float> points;
  std::vector<float> log_prob;
};

Drawn draw(const ActionHead& head, std::span<const float> params, std::span<const bool> legal,
           std::size_t rows, const ActionNoise& noise) {
  const std::size_t numbers = rows * head.spec().dims();
  Drawn drawn;
  drawn.choices.resize(head.spec().continuous() ? 0 : numbers);
  drawn.points.resize(head.spec().continuous() ? numbers : 0);
  drawn.log_prob.resize(rows);
  head.sample({.params = params,
               .legal = legal,
               .choices = drawn.choices,
               .points = drawn.points,
               .log_prob = drawn.log_prob},
              noise);
  return drawn;
}

TEST_CASE("a Gaussian head tells the log density of what it drew, squashed or not") {
  const Box box{{-2, 0}, {2, 10}};
  for (const bool squash : {false, true}) {
    const auto head = make_action_head(box, squash);
    constexpr std::size_t kRows = 70;  // more than a block of the kernels
    std::vector<float> params;
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto x = static_cast<float>(r);
      params.insert(params.end(), {0.1F * x - 3, 0.5F, -0.5F, 0.25F});  // means, log deviations
    }
    REQUIRE(head->num_params() == 4);
    const Drawn drawn = draw(*head, params, {}, kRows, {.seed = 4, .first_env = 0, .step = 9});
    std::vector<float> actions(drawn.points.size());
    head->to_env(drawn.points, actions);
    for (std::size_t r = 0; r < kRows; ++r) {
      double expected = 0;
      for (std::size_t d = 0; d < 2; ++d) {
        const double u = drawn.points[2 * r + d];
        const double half = (box.high[d] - box.low[d]) / 2.0;
        const double mid = (box.high[d] + box.low[d]) / 2.0;
        expected += normal_log_density(u, params[4 * r + d], params[4 * r + 2 + d]);
        if (squash) { expected -= std::log(half * (1 - std::tanh(u) * std::tanh(u))); }
        const double to_env =
            squash ? mid + half * std::tanh(u) : std::clamp<double>(u, box.low[d], box.high[d]);
        CHECK(actions[2 * r + d] == doctest::Approx(to_env).epsilon(1e-5));
      }
      // 1 - tanh^2 in doubles is the weaker side where |u| is large.
      CHECK(drawn.log_prob[r] == doctest::Approx(expected).epsilon(1e-3));
    }
  }
}

TEST_CASE("several choices are drawn each from its own logits, and their probabilities multiply") {
  const auto head = make_action_head(MultiDiscrete{{2, 3}, false}, false);
  constexpr std::size_t kRows = 64;
  constexpr std::size_t kSteps = 100;
  const float logits[5] = {0.0F, 1.0F, -1.0F, 0.5F, 2.0F};
  std::vector<float> params;
  for (std::size_t r = 0; r < kRows; ++r) { params.insert(params.end(), logits, logits + 5); }
  const double first = std::exp(0.0) + std::exp(1.0);
  const double second = std::exp(-1.0) + std::exp(0.5) + std::exp(2.0);
  double joint[2][3] = {};
  for (std::size_t step = 0; step < kSteps; ++step) {
    const Drawn drawn = draw(*head, params, {}, kRows, {.seed = 8, .first_env = 3, .step = step});
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto a = static_cast<std::size_t>(drawn.choices[2 * r]);
      const auto b = static_cast<std::size_t>(drawn.choices[2 * r + 1]);
      const double log_prob = logits[a] - std::log(first) + logits[2 + b] - std::log(second);
      REQUIRE(drawn.log_prob[r] == doctest::Approx(log_prob).epsilon(1e-5));
      joint[a][b] += 1;
    }
  }
  constexpr double kDraws = kRows * kSteps;
  for (std::size_t a = 0; a < 2; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {  // independent: the joint is the product
      const double p = std::exp(logits[a]) / first * std::exp(logits[2 + b]) / second;
      CHECK(std::abs(joint[a][b] - p * kDraws) < 5 * std::sqrt(p * kDraws));
    }
  }
}

TEST_CASE("what is illegal is never drawn, however likely, and the rest share its probability") {
  const auto head = make_action_head(Discrete{4, true}, false);
  constexpr std::size_t kRows = 64;
  std::vector<float> params;
  const auto legal = std::make_unique<bool[]>(4 * kRows);  // NOLINT: vector<bool> has no span
  for (std::size_t r = 0; r < kRows; ++r) {
    params.insert(params.end(), {50.0F, 0.0F, 1.0F, 60.0F});
    legal[4 * r + 1] = legal[4 * r + 2] = true;
  }
  const double total = std::exp(0.0) + std::exp(1.0);
  for (std::uint64_t step = 0; step < 20; ++step) {
    const Drawn drawn =
        draw(*head, params, {legal.get(), 4 * kRows}, kRows, {.seed = 1, .step = step});
    for (std::size_t r = 0; r < kRows; ++r) {
      REQUIRE((drawn.choices[r] == 1 || drawn.choices[r] == 2));
      const double log_prob = (drawn.choices[r] == 2 ? 1 : 0) - std::log(total);
      CHECK(drawn.log_prob[r] == doctest::Approx(log_prob).epsilon(1e-5));
    }
  }
}

TEST_CASE("a row's action depends on its env and step, not on the rows beside it") {
  const auto head = make_action_head(Discrete{5, false}, false);
  std::vector<float> params;
  for (int i = 0; i < 5 * 100; ++i) { params.push_back(std::sin(static_cast<float>(i))); }
  const Drawn all = draw(*head, params, {}, 100, {.seed = 2, .first_env = 10, .step = 7});
  for (const std::size_t r : {0U, 1U, 63U, 64U, 99U}) {
    const Drawn one = draw(*head, std::span(params).subspan(5 * r, 5), {}, 1,
                           {.seed = 2, .first_env = 10 + r, .step = 7});
    CHECK(one.choices[0] == all.choices[r]);
    CHECK(one.log_prob[0] == all.log_prob[r]);
  }
}

TEST_CASE("logits that are not finite are refused with the env that they are of") {
  const auto head = make_action_head(Discrete{2, false}, false);
  for (const float bad : {std::nanf(""), HUGE_VALF}) {
    for (const std::size_t alternative : {0U, 1U}) {
      std::vector<float> params(2 * 70, 0.0F);
      params[2 * 66 + alternative] = bad;
      CHECK_THROWS_WITH_AS(draw(*head, params, {}, 70, {.seed = 1, .first_env = 100, .step = 0}),
                           doctest::Contains("env 166"), DataError);
      std::vector<std::int64_t> modes(70);
      CHECK_THROWS_WITH_AS(head->mode({.params = params, .choices = modes}),
                           doctest::Contains("env 66"), DataError);
    }
  }
}

}  // namespace
}  // namespace penstock
