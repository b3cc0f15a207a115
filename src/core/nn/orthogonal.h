#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>

#include "penstock/core/base/random.h"

namespace penstock::detail {

/// An orthogonal [rows, columns] matrix (orthonormal along the shorter side) times `gain`.
/// Computed in double from our own random numbers, so that it depends on the key only.
at::Tensor orthogonal(std::int64_t rows, std::int64_t columns, double gain, const RandomKey& key);

}  // namespace penstock::detail
