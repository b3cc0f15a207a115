#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/core/act/parameters.h"
#include "penstock/core/env/spec.h"
#include "penstock/core/fused/mlp.h"

namespace penstock {

// Shapes: B samples, F floats of a row, A alternatives, P numbers that parametrise an action
// distribution.

/// A batch of rows to act on.
struct Observation {
  at::Tensor obs;    // [B, F], rows as the env wrote them
  at::Tensor legal;  // [B, A] bool; undefined only where the action spec is not masked
};

/// The features of rows [B, F]: what a part that counts means stands in full.
at::Tensor features_of(const Layout& layout, const at::Tensor& rows);

/// On the device of the parameters.
struct NetworkOutput {
  at::Tensor params;  // [B, P], what ActionHead understands: logits, or mean and log std
  at::Tensor value;   // [B]
};

/// An actor-critic. Implementations hold ordinary autograd parameters; Policy rebinds their memory,
/// so parameters must be float32 and keep their identity. forward() is called by one thread at a
/// time per object; objects of the same kind run side by side.
class Network {
 public:
  virtual ~Network() = default;
  /// Outputs that are not wanted may stay undefined. The value of a row that truncation cut off is
  /// asked for with every action legal.
  virtual NetworkOutput forward(const Observation& batch, Outputs want) = 0;
  /// In a fixed order, with names that are unique and stay as they are: checkpoints use them.
  virtual std::vector<std::pair<std::string, at::Tensor>> parameters() = 0;

  /// Which outputs a parameter has a part in: no gradient of the others can reach it.
  [[nodiscard]] virtual Outputs serves(const std::string& /*parameter*/) const {
    return Outputs::both;
  }

  /// About how many floats a forward pass keeps per row for the backward pass: large batches are
  /// split by it.
  [[nodiscard]] virtual std::int64_t floats_per_row() const { return 4096; }

  /// The same function as a stack of linear layers, for a network that is one: it can then run
  /// without a graph. `offset_of` tells where a parameter lies in the flat buffers.
  using OffsetOf = std::function<std::size_t(const std::string& parameter)>;
  [[nodiscard]] virtual std::optional<fused::MlpShape> fused_shape(const OffsetOf&) const {
    return std::nullopt;
  }
};

}  // namespace penstock
