#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "penstock/envs/classic/acrobot.h"
#include "penstock/envs/classic/cartpole.h"
#include "penstock/envs/classic/mountain_car.h"
#include "penstock/envs/classic/pendulum.h"
#include "unit/envs/classic/harness.h"

// The formulas are held against Gymnasium itself in tests/oracle/gymnasium; here is what that
// cannot see: where episodes start, and what a loaded state may be.

namespace penstock {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The smallest and largest start value of state `i` over many seeds.
template <Env E, std::size_t n>
std::pair<double, double> start_range(std::size_t i) {
  Alone<E> alone;
  std::pair<double, double> range = {kInfinity, -kInfinity};
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    alone.reset(seed);
    const double value = alone.template physical<n>()[i];
    range = {std::min(range.first, value), std::max(range.second, value)};
  }
  return range;
}

void check_range(std::pair<double, double> range, double low, double high) {
  const double margin = (high - low) / 500;
  CHECK(range.first >= low);
  CHECK(range.first < low + margin);
  CHECK(range.second <= high);
  CHECK(range.second > high - margin);
}

}  // namespace

TEST_CASE("the series for small angles agrees with libm to an ulp") {
  for (int i = -100000; i <= 100000; ++i) {
    const double angle = detail::kSmallAngle * i / 100000;
    const auto [sin, cos] = detail::sin_cos(angle);
    REQUIRE(std::abs(sin - std::sin(angle)) <= std::abs(std::sin(angle)) * 2.3e-16);
    REQUIRE(std::abs(cos - std::cos(angle)) <= 2.3e-16);
  }
  CHECK(detail::sin_cos(2.0).sin == std::sin(2.0));
  CHECK(detail::sin_cos(-2.0).cos == std::cos(-2.0));
}

TEST_CASE("episodes start where Gymnasium's do") {
  for (std::size_t i = 0; i < 4; ++i) {
    check_range(start_range<CartPole, 4>(i), -0.05, 0.05);
    check_range(start_range<Acrobot, 4>(i), -0.1F, 0.1F);
  }
  check_range(start_range<MountainCar, 2>(0), -0.6, -0.4);
  CHECK(start_range<MountainCar, 2>(1) == std::pair{0.0, 0.0});
  check_range(start_range<Pendulum, 2>(0), -std::numbers::pi, std::numbers::pi);
  check_range(start_range<Pendulum, 2>(1), -1, 1);
}

TEST_CASE("the first row shows the state") {
  Alone<CartPole> cart;
  cart.reset(3);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(cart.obs[i] == static_cast<float>(cart.physical<4>()[i]));
  }
  Alone<Pendulum> pendulum;
  pendulum.reset(3);
  const auto [theta, speed] = pendulum.physical<2>();
  CHECK(pendulum.obs == std::vector<float>{static_cast<float>(std::cos(theta)),
                                           static_cast<float>(std::sin(theta)),
                                           static_cast<float>(speed)});
}

TEST_CASE("the limits are Gymnasium's") {
  CHECK(CartPole({}).spec().max_episode_steps == 500);
  CHECK(Acrobot({}).spec().max_episode_steps == 500);
  CHECK(MountainCar({}).spec().max_episode_steps == 200);
  CHECK(Pendulum({}).spec().max_episode_steps == 200);
}

TEST_CASE("a torque outside the box counts as its bound") {
  Alone<Pendulum> inside;
  Alone<Pendulum> outside;
  inside.reset(1);
  outside.reset(1);
  const float reward = inside.step(std::array{2.0F}).reward;
  CHECK(outside.step(std::array{9.0F}).reward == reward);
  CHECK(outside.obs == inside.obs);
}

TEST_CASE("a state that cannot be is refused") {
  Alone<CartPole> cart;
  CHECK_THROWS_AS(cart.set_physical<4>({0, kInfinity, 0, 0}), DataError);
  Alone<Acrobot> acrobot;
  CHECK_THROWS_AS(acrobot.set_physical<4>({1e300, 0, 0, 0}), DataError);  // would wrap for ever
  CHECK_THROWS_AS(acrobot.set_physical<4>({0, 0, NAN, 0}), DataError);
  Alone<MountainCar> car;
  CHECK_THROWS_AS(car.set_physical<2>({NAN, 0}), DataError);
  Alone<Pendulum> pendulum;
  CHECK_THROWS_AS(pendulum.set_physical<2>({0, -kInfinity}), DataError);
}

}  // namespace penstock
