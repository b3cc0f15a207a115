#pragma once
#include <cstddef>
#include <cstdint>

#include "penstock/domains/booking/neural/task.h"

namespace penstock::booking {

// Shapes: N tokens. What the encoder is told.

inline constexpr std::size_t kNodeFeatures = 22;
inline constexpr std::size_t kEdgeFeatures = 10;

/// The eight ways to lay a square onto itself. Plans do not depend on it, networks do a little.
inline constexpr std::int32_t kFlips = 8;

/// [N, kNodeFeatures]: kind, place, window, load, and how far its neighbours in time are. Without
/// points, or with `flip` < 0, the places are left out.
void write_nodes(const Task& task, std::int32_t flip, float* out);

/// From one token to all others and back, by feature: [kEdgeFeatures, stride], of which N are
/// written.
void write_edges(const Task& task, std::int32_t token, float* out, std::size_t stride);

}  // namespace penstock::booking
