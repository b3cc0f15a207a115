#include "penstock/core/fused/dense.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "penstock/core/fused/adam.h"
#include "penstock/core/fused/aligned.h"
#include "penstock/core/fused/counts.h"
#include "penstock/core/fused/isa.h"
#include "unit/core/fused/support.h"

using namespace penstock;
using fused::AlignedFloats;
using test::random_floats;

TEST_CASE("a product is the sum it stands for, on every instruction set") {
  test::on_every_isa([] {
    for (const std::size_t rows : {1U, 5U, 6U, 13U, 64U}) {
      for (const std::size_t width : {16U, 32U, 48U, 80U}) {
        const std::size_t depth = 7;
        const AlignedFloats a = random_floats(rows * depth, 1);
        const AlignedFloats b = random_floats(depth * width, 2);
        const AlignedFloats bias = random_floats(width, 3);
        AlignedFloats out(rows * width);
        fused::multiply({.a = {a.data(), depth, 1},
                         .b = b.data(),
                         .bias = bias.data(),
                         .out = out.data(),
                         .rows = rows,
                         .depth = depth,
                         .width = width});
        for (std::size_t r = 0; r < rows; ++r) {
          for (std::size_t c = 0; c < width; ++c) {
            double sum = bias.data()[c];
            for (std::size_t k = 0; k < depth; ++k) {
              sum += double{a.data()[r * depth + k]} * b.data()[k * width + c];
            }
            REQUIRE(out.data()[r * width + c] == doctest::Approx(sum).epsilon(1e-5));
          }
        }
      }
    }
  });
}

TEST_CASE("rows of a table are summed by lists, on every instruction set") {
  const fused::Lists lists{.first = {0, 3, 3, 4}, .items = {4, 0, 4, 2}};
  test::on_every_isa([&] {
    for (const std::size_t width : {16U, 32U, 48U, 64U, 80U, 256U}) {
      const AlignedFloats table = random_floats(5 * width, 1);
      const AlignedFloats start = random_floats(width, 2);
      AlignedFloats out = random_floats(3 * width, 3);
      const AlignedFloats before = random_floats(3 * width, 3);
      const auto at = [&](std::size_t k, std::size_t c) { return table.data()[k * width + c]; };
      fused::sum_rows({.lists = lists,
                       .table = table.data(),
                       .start = start.data(),
                       .out = out.data(),
                       .width = width});
      for (std::size_t c = 0; c < width; ++c) {
        REQUIRE(out.data()[c] == ((start.data()[c] + at(4, c)) + at(0, c)) + at(4, c));
        REQUIRE(out.data()[width + c] == start.data()[c]);
        REQUIRE(out.data()[2 * width + c] == start.data()[c] + at(2, c));
      }
      out = random_floats(3 * width, 3);
      fused::sum_rows(
          {.lists = lists, .table = table.data(), .out = out.data(), .width = width, .add = true});
      for (std::size_t c = 0; c < width; ++c) {
        REQUIRE(out.data()[width + c] == before.data()[width + c]);
        REQUIRE(out.data()[2 * width + c] == before.data()[2 * width + c] + at(2, c));
      }
      fused::sum_rows({.lists = lists, .table = table.data(), .out = out.data(), .width = width});
      for (std::size_t c = 0; c < width; ++c) {
        REQUIRE(out.data()[width + c] == 0);
        REQUIRE(out.data()[2 * width + c] == at(2, c));
      }
    }
  });
}

TEST_CASE("what rows count is listed by row and by feature") {
  fused::Counted counted(
      {{.offset = 0, .size = 1, .first_feature = 0, .num_features = 1},
       {.offset = 1, .size = 3, .first_feature = 1, .num_features = 4, .counts = true}});
  const std::vector<float> rows = {9, 3, -1, 0, 9, 3, 3, -1};
  counted.read({rows.data(), 4, 1}, 2, true);
  CHECK(counted.by_row().first == std::vector<std::uint32_t>{0, 2, 4});
  CHECK(counted.by_row().items == std::vector<std::uint32_t>{4, 1, 4, 4});
  CHECK(counted.by_feature().first == std::vector<std::uint32_t>{0, 0, 1, 1, 1, 4});
  CHECK(counted.by_feature().items == std::vector<std::uint32_t>{0, 0, 1, 1});
  const std::vector<float> wrong = {9, 4, -1, -1};
  CHECK_THROWS_AS(counted.read({wrong.data(), 4, 1}, 1, true), std::logic_error);
}

TEST_CASE("a row's product does not depend on the rows beside it") {
  test::on_every_isa([] {
    const std::size_t rows = 64;
    const std::size_t depth = 33;
    const std::size_t width = 80;
    const AlignedFloats a = random_floats(rows * depth, 1);
    const AlignedFloats b = random_floats(depth * width, 2);
    AlignedFloats together(rows * width);
    AlignedFloats alone(width);
    const auto multiply = [&](const float* first, std::size_t count, float* out) {
      fused::multiply({.a = {first, depth, 1},
                       .b = b.data(),
                       .out = out,
                       .rows = count,
                       .depth = depth,
                       .width = width});
    };
    multiply(a.data(), rows, together.data());
    for (std::size_t r = 0; r < rows; ++r) {
      multiply(a.data() + r * depth, 1, alone.data());
      REQUIRE(std::memcmp(alone.data(), together.data() + r * width, width * sizeof(float)) == 0);
    }
  });
}

TEST_CASE("tanh is libm's to two units in the last place, and never beyond one") {
  test::on_every_isa([] {
    AlignedFloats x(1 << 16);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float t = static_cast<float>(i) / static_cast<float>(x.size());
      x.data()[i] = (i % 2 == 0 ? 1.0F : -1.0F) * std::pow(10.0F, 8 * t - 6);  // 1e-6 to 100
    }
    const AlignedFloats y(x.size());
    std::copy_n(x.data(), x.size(), y.data());
    fused::activate(fused::Activation::tanh, y.data(), y.size());
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = std::tanh(double{x.data()[i]});
      worst = std::max(worst, std::abs(y.data()[i] - exact) / std::abs(exact));
      REQUIRE(std::abs(y.data()[i]) <= 1.0F);
    }
    CHECK(worst < 2 * 0x1.0p-23);
  });
}

TEST_CASE("elu is expm1 below 0 to a few units in the last place, and its input above") {
  test::on_every_isa([] {
    AlignedFloats x(1 << 14);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float t = static_cast<float>(i) / static_cast<float>(x.size());
      x.data()[i] = (i % 2 == 0 ? 1.0F : -1.0F) * std::pow(10.0F, 8 * t - 6);  // 1e-6 to 100
    }
    const AlignedFloats y(x.size());
    std::copy_n(x.data(), x.size(), y.data());
    fused::activate(fused::Activation::elu, y.data(), y.size());
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double in = x.data()[i];
      const double exact = in > 0 ? in : std::expm1(in);
      worst = std::max(worst, std::abs(y.data()[i] - exact) / std::abs(exact));
    }
    CHECK(worst < 4 * 0x1.0p-23);
  });
}

TEST_CASE("a transposition moves every number, at any size") {
  test::on_every_isa([] {
    for (const std::size_t rows : {1U, 3U, 4U, 9U, 64U}) {
      for (const std::size_t columns : {1U, 2U, 5U, 8U, 65U}) {
        const AlignedFloats in = random_floats(rows * columns, 4);
        const AlignedFloats out(columns * rows);
        fused::transpose({in.data(), columns, out.data(), rows, rows, columns});
        for (std::size_t r = 0; r < rows; ++r) {
          for (std::size_t c = 0; c < columns; ++c) {
            REQUIRE(out.data()[c * rows + r] == in.data()[r * columns + c]);
          }
        }
      }
    }
  });
}

TEST_CASE("sums of gradients and of squares count every number once") {
  test::on_every_isa([] {
    for (const std::size_t n : {1U, 15U, 16U, 64U, 100U, 1000U}) {
      const AlignedFloats a = random_floats(n, 5);
      const AlignedFloats b = random_floats(n, 6);
      double square = 0;
      for (std::size_t i = 0; i < n; ++i) { square += double{b.data()[i]} * b.data()[i]; }
      CHECK(fused::sum_of_squares(b.data(), n) == doctest::Approx(square).epsilon(1e-5));
      const AlignedFloats sum(n);
      std::copy_n(a.data(), n, sum.data());
      fused::add(sum.data(), b.data(), n);
      for (std::size_t i = 0; i < n; ++i) { REQUIRE(sum.data()[i] == a.data()[i] + b.data()[i]); }
    }
  });
}
