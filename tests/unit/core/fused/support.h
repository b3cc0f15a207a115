#pragma once
#include <doctest/doctest.h>

#include <cstddef>
#include <random>
#include <string>

#include "penstock/core/fused/aligned.h"
#include "penstock/core/fused/isa.h"

namespace penstock::test {

inline fused::AlignedFloats random_floats(std::size_t n, unsigned seed) {
  fused::AlignedFloats x(n);
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < n; ++i) { x.data()[i] = normal(generator); }
  return x;
}

/// Once for each instruction set that the machine has.
template <class Work>
void on_every_isa(const Work& work) {
  for (const std::string& isa : fused::supported_isas()) {
    CAPTURE(isa);
    fused::use_isa(isa);
    work();
  }
  fused::use_isa("auto");
}

}  // namespace penstock::test
