#include "penstock/core/env/spec.h"

#include <doctest/doctest.h>

#include <cmath>

#include "penstock/core/base/errors.h"

namespace penstock {

TEST_CASE("the parts of a layout stand one after another") {
  const Layout layout({{"clock", {1}}, {"tokens", {31, 8}}, {"tail", {2, 1, 3}}});
  CHECK(layout.size() == 1 + 248 + 6);
  CHECK(layout.part("clock").offset == 0);
  CHECK(layout.part("tokens").offset == 1);
  CHECK(layout.part("tokens").size == 248);
  CHECK(layout.part("tokens").shape == std::vector<std::int64_t>{31, 8});
  CHECK(layout.part("tail").offset == 249);
}

TEST_CASE("a layout of one number is one part called obs") {
  const Layout layout(4);
  CHECK(layout.parts().size() == 1);
  CHECK(layout.part("obs").size == 4);
  CHECK(Layout().size() == 0);
}

TEST_CASE("append grows the row at its end") {
  Layout layout(2);
  layout.append("more", {3});
  CHECK(layout.size() == 5);
  CHECK(layout.part("more").offset == 2);
}

TEST_CASE("a part that counts takes a float for each thing and means its whole shape") {
  Layout layout(2);
  layout.append_counts("seen", {3, 2}, 4);
  layout.append("last", {1});
  CHECK(layout.any_counts());
  CHECK(layout.size() == 2 + 4 + 1);
  CHECK(layout.num_features() == 2 + 6 + 1);
  CHECK(layout.part("last").offset == 6);
  CHECK(layout.part("last").first_feature == 8);
  const std::vector<float> row = {7, 8, 5, -1, 0, 5, 9};
  std::vector<float> features(9, -7);
  layout.expand(row, features);
  CHECK(features == std::vector<float>{7, 8, 1, 0, 0, 0, 0, 2, 9});
  std::vector<float> back(7, -7);
  layout.collect(features, back);
  CHECK(back == std::vector<float>{7, 8, 0, 5, 5, -1, 9});
}

TEST_CASE("what is not a count, or too many, is refused by name") {
  Layout layout;
  layout.append_counts("seen", {3}, 2);
  std::vector<float> row(2);
  for (const std::vector<float>& wrong :
       {std::vector<float>{0.5F, 0, 0}, {-1, 0, 0}, {1, 1, 1}, {3, 0, 0}, {NAN, 0, 0}}) {
    CHECK_THROWS_WITH_AS(layout.collect(wrong, row), doctest::Contains("'seen'"), UsageError);
  }
}

TEST_CASE("names and places are told from amounts") {
  Layout layout(1);
  layout.append("lines", {2, 3}, {{1, "zone", 5}});
  layout.append_counts("seen", {9}, 2);
  CHECK(layout.names() ==
        std::vector<bool>{false, false, true, false, false, true, false, true, true});
  CHECK_FALSE(Layout({{"lines", {2, 3}}}).any_counts());
}

TEST_CASE("an unknown part names the nearest spelling") {
  const Layout layout({{"clock", {1}}, {"tokens", {31, 8}}});
  CHECK_THROWS_WITH_AS(static_cast<void>(layout.part("token")), doctest::Contains("'token'"),
                       UsageError);
  CHECK_THROWS_WITH_AS(static_cast<void>(layout.part("token")),
                       doctest::Contains("did you mean 'tokens'"), UsageError);
}

TEST_CASE("a discrete action is one number with one mask") {
  const ActionSpec action = Discrete{5, true};
  CHECK_FALSE(action.continuous());
  CHECK_FALSE(action.multi());
  CHECK(action.masked());
  CHECK(action.dims() == 1);
  CHECK(action.num_actions() == 5);
  CHECK(action.choices() == std::vector<std::int64_t>{5});
}

TEST_CASE("a multi-discrete action has a number per choice and masks side by side") {
  const ActionSpec action = MultiDiscrete{{3, 2, 4}};
  CHECK(action.multi());
  CHECK_FALSE(action.masked());
  CHECK(action.dims() == 3);
  CHECK(action.num_actions() == 9);
}

TEST_CASE("a box has a number per dimension and no mask") {
  const ActionSpec action = Box{{-1, -2}, {1, 2}};
  CHECK(action.continuous());
  CHECK_FALSE(action.masked());
  CHECK(action.dims() == 2);
  CHECK(action.num_actions() == 0);
  CHECK(action.choices().empty());
  CHECK(action.box().high[1] == 2);
}

TEST_CASE("a spec that cannot be trained on, or is not that of step, is refused with both named") {
  const EnvSpec right{Layout(2), Discrete{3}, 0};
  CHECK_NOTHROW(check_spec(right, StepKind::choice));
  CHECK_NOTHROW(check_spec(right, StepKind::choices));  // one of one
  const auto refused = [](const EnvSpec& spec, StepKind step, const char* why) {
    CHECK_THROWS_WITH_AS(check_spec(spec, step), doctest::Contains(why), ConfigError);
  };
  refused(right, StepKind::point,
          "the action is Discrete, but the env has step(std::span<const float>)");
  refused({Layout(2), MultiDiscrete{{4, 4, 4}}, 0}, StepKind::choice,
          "the action is MultiDiscrete, but the env has step(std::int64_t)");
  refused({Layout(2), Box{{0}, {1}}, 0}, StepKind::choice, "the action is a Box");
  refused({Layout(2), Discrete{0}, 0}, StepKind::choice, "a choice among 0 alternatives");
  refused({Layout(2), MultiDiscrete{{}}, 0}, StepKind::choices, "nothing to choose");
  refused({Layout(2), Box{{1}, {0}}, 0}, StepKind::point,
          "dimension 0 of the box has low not below high");
  refused({Layout(2), Box{{-1, 2}, {1, 2}}, 0}, StepKind::point,
          "dimension 1 of the box has low not below high");
  refused({Layout({{"a", {1}}, {"a", {2}}}), Discrete{2}, 0}, StepKind::choice,
          "two parts are called 'a'");
  refused({Layout(), Discrete{2}, 0}, StepKind::choice, "no numbers");
  refused({Layout(2), Discrete{2}, -1}, StepKind::choice, "negative");
  EnvSpec talkative = right;
  talkative.stats = {"a", "b", "c", "d", "e"};
  refused(talkative, StepKind::choice, "5 statistics, at most 4");
}

}  // namespace penstock
