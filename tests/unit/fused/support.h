#pragma once
#include <cstddef>
#include <random>

#include "penstock/fused/aligned.h"

namespace penstock::test {

inline fused::AlignedFloats random_floats(std::size_t n, unsigned seed) {
  fused::AlignedFloats x(n);
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < n; ++i) { x.data()[i] = normal(generator); }
  return x;
}

}  // namespace penstock::test
