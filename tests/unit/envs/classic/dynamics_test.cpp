#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "penstock/envs/classic/acrobot.h"
#include "penstock/envs/classic/cartpole.h"
#include "penstock/envs/classic/mountain_car.h"
#include "penstock/envs/classic/pendulum.h"
#include "unit/envs/classic/harness.h"

// Against mechanics instead of Gymnasium's text: equations of motion, energies, walls.

namespace penstock {
namespace {

constexpr double kPi = std::numbers::pi;

/// Of two rods of mass, length and moment of inertia 1 that hang from each other, centres in the
/// middle; angles from straight down, the second against the first.
double acrobot_energy(const std::array<double, 4>& state) {
  const auto [theta1, theta2, velocity1, velocity2] = state;
  const double both = velocity1 + velocity2;
  const double kinetic = 0.5 * 0.25 * velocity1 * velocity1 + 0.5 * velocity1 * velocity1 +
                         0.5 * (velocity1 * velocity1 + 0.25 * both * both +
                                2 * 0.5 * velocity1 * both * std::cos(theta2)) +
                         0.5 * both * both;
  const double potential =
      -9.8 * 0.5 * std::cos(theta1) - 9.8 * (std::cos(theta1) + 0.5 * std::cos(theta1 + theta2));
  return kinetic + potential;
}

}  // namespace

TEST_CASE("an acrobot without torque keeps its energy, and with torque it does not") {
  for (const double start : {0.3, 0.8}) {
    Alone<Acrobot> alone;
    alone.set_physical<4>({start, -start / 2, 0, 0});
    const double before = acrobot_energy({start, -start / 2, 0, 0});
    for (int i = 0; i < 25; ++i) { alone.step(std::int64_t{1}); }
    const double after = acrobot_energy(alone.physical<4>());
    CHECK(after == doctest::Approx(before).epsilon(0.005));  // what steps of 0.2 s allow
    for (int i = 0; i < 5; ++i) { alone.step(std::int64_t{2}); }
    CHECK(std::abs(acrobot_energy(alone.physical<4>()) - after) > 0.01);
  }
}

TEST_CASE("an acrobot is mirrored by mirrored torques") {
  Alone<Acrobot> left;
  Alone<Acrobot> right;
  left.set_physical<4>({0.4, 0.2, -0.3, 0.1});
  right.set_physical<4>({-0.4, -0.2, 0.3, -0.1});
  for (const std::int64_t action : {0, 2, 2, 1, 0, 0, 2}) {
    left.step(action);
    right.step(2 - action);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(left.physical<4>()[i] == doctest::Approx(-right.physical<4>()[i]).epsilon(1e-9));
  }
}

TEST_CASE("an acrobot arrives when its tip is a link's length above the bar, and not before") {
  // Straight: the tip is at -2 cos(theta1) above the bar.
  for (const double tip : {0.7, 1.3}) {
    Alone<Acrobot> alone;
    alone.set_physical<4>({std::acos(-tip / 2), 0, 0, 0});
    const Outcome outcome = alone.step(std::int64_t{1});  // a fifth of a second of falling
    const auto [theta1, theta2, v1, v2] = alone.physical<4>();
    const bool up = -std::cos(theta1) - std::cos(theta1 + theta2) > 1;
    CHECK(outcome.terminated == up);
    CHECK(up == (tip > 1));
    CHECK(outcome.reward == (up ? 0 : -1));
    CHECK(outcome.success == (up ? Success::yes : Success::no));
  }
}

TEST_CASE("a cart and its pole obey Newton: forces on the whole, torque on the pole") {
  constexpr double kTau = 0.02;
  for (const std::int64_t action : {0, 1}) {
    for (const double theta : {-0.2, -0.01, 0.0, 0.15}) {
      const std::array<double, 4> before = {0.3, -0.5, theta, 1.7};
      Alone<CartPole> alone;
      alone.set_physical<4>(before);
      alone.step(action);
      const auto after = alone.physical<4>();
      const double x_acc = (after[1] - before[1]) / kTau;
      const double theta_acc = (after[3] - before[3]) / kTau;
      CHECK(after[0] == doctest::Approx(before[0] + kTau * before[1]));
      CHECK(after[2] == doctest::Approx(before[2] + kTau * before[3]));
      const double inertia = theta_acc * std::cos(theta) - 1.7 * 1.7 * std::sin(theta);
      CHECK(1.1 * x_acc + 0.1 * 0.5 * inertia ==
            doctest::Approx(action == 1 ? 10 : -10).epsilon(1e-9));
      CHECK(4.0 / 3 * 0.5 * theta_acc + x_acc * std::cos(theta) ==
            doctest::Approx(9.8 * std::sin(theta)).epsilon(1e-9));
    }
  }
}

TEST_CASE("a cartpole ends just beyond 2.4 and 12 degrees, on either side") {
  const double degrees = kPi / 180;
  const auto ends = [](double x, double theta) {
    Alone<CartPole> alone;
    alone.set_physical<4>({x, 0, theta, 0});  // at rest: a step later it is still there
    return alone.step(std::int64_t{1}).terminated;
  };
  for (const double side : {-1.0, 1.0}) {
    CHECK(!ends(side * 2.399, 0));
    CHECK(ends(side * 2.401, 0));
    CHECK(!ends(0, side * 11.99 * degrees));
    CHECK(ends(0, side * 12.01 * degrees));
  }
}

TEST_CASE("a pendulum falls as a rod does, and is charged for angle, speed and torque") {
  Alone<Pendulum> alone;
  const double theta = 3 * kPi + 0.25;  // the same as 0.25 - pi
  alone.set_physical<2>({theta, -1.5});
  const float reward = alone.step(std::array{1.25F}).reward;
  const double lean = 0.25 - kPi;
  CHECK(reward ==
        doctest::Approx(-(lean * lean + 0.1 * 1.5 * 1.5 + 0.001 * 1.25 * 1.25)).epsilon(1e-6));
  const double acceleration = 3 * 10 / 2.0 * std::sin(theta) + 3 * 1.25;
  const double speed = -1.5 + 0.05 * acceleration;
  const auto [after, rate] = alone.physical<2>();
  CHECK(rate == doctest::Approx(speed).epsilon(1e-6));
  CHECK(after == doctest::Approx(theta + 0.05 * speed).epsilon(1e-9));
}

TEST_CASE("a pendulum's speed is bounded, and hanging still costs pi squared") {
  Alone<Pendulum> alone;
  alone.set_physical<2>({kPi / 2, 7.9});
  alone.step(std::array{2.0F});
  CHECK(alone.physical<2>()[1] == 8);
  alone.set_physical<2>({kPi, 0});
  CHECK(alone.step(std::array{0.0F}).reward == doctest::Approx(-kPi * kPi).epsilon(1e-6));
}

TEST_CASE("a mountain car stops dead at the left wall") {
  Alone<MountainCar> alone;
  alone.set_physical<2>({-1.19, -0.06});
  const Outcome outcome = alone.step(std::int64_t{0});
  CHECK(alone.physical<2>() == std::array{-1.2, 0.0});
  CHECK(!outcome.terminated);
}

TEST_CASE("a mountain car cannot climb straight, but swinging brings it up from every start") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Alone<MountainCar> straight;
    straight.reset(seed);
    bool climbed = false;
    for (int i = 0; i < 200; ++i) {
      climbed = climbed || straight.step(std::int64_t{2}).terminated;
    }
    CHECK(!climbed);
    Alone<MountainCar> swinging;
    swinging.reset(seed);
    int steps = 0;
    Outcome outcome;
    for (; steps < 200 && !outcome.terminated; ++steps) {
      outcome = swinging.step(std::int64_t{swinging.physical<2>()[1] < 0 ? 0 : 2});
    }
    CHECK(outcome.terminated);
    CHECK(outcome.success == Success::yes);
    CHECK(steps > 70);  // nobody is there sooner
    CHECK(swinging.physical<2>()[0] >= 0.5);
  }
}

}  // namespace penstock
