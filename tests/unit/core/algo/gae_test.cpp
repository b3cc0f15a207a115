#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "penstock/core/algo/gae_targets.h"

namespace gae_test {

using namespace penstock;

namespace {

const EnvSpec kSpec{Layout(1), Discrete{2}, 0};

/// One env; values of T + 1 rows.
Fragment scripted(std::vector<float> rewards, std::vector<float> values) {
  Fragment buffer(kSpec, static_cast<std::int64_t>(rewards.size()), 1);
  buffer.reward.copy_(at::tensor(rewards).unsqueeze(1));
  buffer.value.copy_(at::tensor(values).unsqueeze(1));
  buffer.terminated.zero_();
  buffer.truncated.zero_();
  buffer.final_value.zero_();
  return buffer;
}

Targets gae(const Fragment& buffer, const GaeConfig& config) {
  const Targets targets{at::zeros_like(buffer.reward), at::zeros_like(buffer.reward)};
  compute_gae(buffer, {0, 1}, config, targets);
  return targets;
}

constexpr GaeConfig kConfig{.gamma = 0.9, .lambda = 0.8};

void check(const Fragment& buffer, std::vector<double> advantages) {
  const Targets targets = gae(buffer, kConfig);
  for (std::size_t t = 0; t < advantages.size(); ++t) {
    const auto row = static_cast<std::int64_t>(t);
    CHECK(targets.advantage[row][0].item<double>() == doctest::Approx(advantages[t]).epsilon(1e-6));
    CHECK(targets.value[row][0].item<double>() ==
          doctest::Approx(advantages[t] + buffer.value[row][0].item<double>()).epsilon(1e-6));
  }
}

}  // namespace

TEST_CASE("an unbroken episode: deltas summed with gamma lambda, by hand") {
  Fragment buffer = scripted({1, 2, 3}, {10, 20, 30, 40});
  const double d2 = 3 + 0.9 * 40 - 30;
  const double d1 = 2 + 0.9 * 30 - 20;
  const double d0 = 1 + 0.9 * 20 - 10;
  check(buffer, {d0 + 0.72 * (d1 + 0.72 * d2), d1 + 0.72 * d2, d2});
}

TEST_CASE("a termination ends the future") {
  Fragment buffer = scripted({1, 2, 3}, {10, 20, 30, 40});
  buffer.terminated[1][0] = true;
  const double d1 = 2 - 20;
  check(buffer, {1 + 0.9 * 20 - 10 + 0.72 * d1, d1, 3 + 0.9 * 40 - 30});
}

TEST_CASE("a truncation takes the value of the row it cut off, and cuts the trace") {
  Fragment buffer = scripted({1, 2, 3}, {10, 20, 30, 40});
  buffer.truncated[1][0] = true;
  buffer.final_value[1][0] = 25;
  const double d1 = 2 + 0.9 * 25 - 20;
  check(buffer, {1 + 0.9 * 20 - 10 + 0.72 * d1, d1, 3 + 0.9 * 40 - 30});
}

TEST_CASE("terminated and truncated at once counts as terminated") {
  Fragment buffer = scripted({5}, {1, 100});
  buffer.terminated[0][0] = true;
  buffer.truncated[0][0] = true;
  buffer.final_value[0][0] = 50;
  check(buffer, {4});
}

TEST_CASE("lambda one is the discounted return minus the value") {
  Fragment buffer = scripted({1, 1, 1, 1}, {0.5, 0.4, 0.3, 0.2, 7});
  const Targets targets = gae(buffer, {.gamma = 0.5, .lambda = 1.0});
  CHECK(targets.value[0][0].item<double>() == doctest::Approx(1 + 0.5 + 0.25 + 0.125 + 7.0 / 16));
}

}  // namespace gae_test
