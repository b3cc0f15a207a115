#include "penstock/core/fused/attention.h"

#include <doctest/doctest.h>

#include <cmath>

#include "penstock/core/fused/aligned.h"
#include "penstock/core/fused/isa.h"
#include "unit/core/fused/support.h"

using namespace penstock;
using fused::AlignedFloats;
using test::random_floats;

namespace {

constexpr std::size_t kRows = 5;
constexpr std::size_t kWidth = 48;

}  // namespace

TEST_CASE("softmax against its definition, with closed columns, on every instruction set") {
  AlignedFloats mask(kWidth);
  for (std::size_t i = 0; i < kWidth; ++i) { mask.data()[i] = i % 3 == 0 ? -1e30F : 0.0F; }
  for (const std::string& isa : fused::supported_isas()) {
    CAPTURE(isa);
    fused::use_isa(isa);
    const AlignedFloats before = random_floats(kRows * kWidth, 1);
    const AlignedFloats x = random_floats(kRows * kWidth, 1);
    fused::softmax({.x = x.data(), .mask = mask.data(), .rows = kRows, .width = kWidth});
    for (std::size_t r = 0; r < kRows; ++r) {
      double total = 0;
      for (std::size_t i = 0; i < kWidth; ++i) {
        if (i % 3 != 0) { total += std::exp(double{before.data()[r * kWidth + i]}); }
      }
      for (std::size_t i = 0; i < kWidth; ++i) {
        const double expected =
            i % 3 == 0 ? 0 : std::exp(double{before.data()[r * kWidth + i]}) / total;
        CHECK(x.data()[r * kWidth + i] == doctest::Approx(expected).epsilon(1e-5));
      }
    }
  }
  fused::use_isa("auto");
}

TEST_CASE("a root mean square becomes one, on every instruction set") {
  const AlignedFloats x = random_floats(kRows * kWidth, 2);
  const AlignedFloats weight = random_floats(kWidth, 3);
  for (const std::string& isa : fused::supported_isas()) {
    CAPTURE(isa);
    fused::use_isa(isa);
    AlignedFloats out(kRows * kWidth);
    fused::rms_norm({.x = x.data(),
                     .weight = weight.data(),
                     .out = out.data(),
                     .rows = kRows,
                     .width = kWidth});
    for (std::size_t r = 0; r < kRows; ++r) {
      double squares = 0;
      for (std::size_t i = 0; i < kWidth; ++i) {
        squares += std::pow(double{x.data()[r * kWidth + i]}, 2);
      }
      const double root = std::sqrt(squares / kWidth + 1e-6);
      for (std::size_t i = 0; i < kWidth; ++i) {
        const double expected = x.data()[r * kWidth + i] / root * weight.data()[i];
        CHECK(out.data()[r * kWidth + i] == doctest::Approx(expected).epsilon(1e-5));
      }
    }
  }
  fused::use_isa("auto");
}
