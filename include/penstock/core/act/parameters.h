#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace penstock {

/// Which outputs of an actor-critic: of a pass that is asked for, or of a parameter's part in them.
enum class Outputs { policy, value, both };

/// A parameter's place in the flat buffers: weights, a gradient, an optimiser's moment.
struct ParameterSlot {
  std::string name;
  std::vector<std::int64_t> shape;
  std::int64_t offset = 0;  // in floats, a multiple of kParameterAlignment
  std::int64_t size = 0;
  bool by_input = false;           // a matrix that lies as its transpose
  Outputs serves = Outputs::both;  // the outputs that it has a part in
};

/// Every parameter starts on a cache line, whatever the shapes before it.
inline constexpr std::int64_t kParameterAlignment = 16;

/// Where the parameter after one of `size` floats begins.
constexpr std::int64_t aligned_size(std::int64_t size) {
  return (size + kParameterAlignment - 1) / kParameterAlignment * kParameterAlignment;
}

}  // namespace penstock
