#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>

#include "penstock/core/env/spec.h"
#include "penstock/core/nn/mlp.h"

namespace penstock::detail {

/// The way past the network: a part of the observation that already prefers some actions.
struct Skip {
  std::int64_t offset = -1;  // of the part in a row; -1: there is none
  std::int64_t size = 0;
  double scale = 1;

  Skip() = default;
  /// Throws ConfigError when the part is not there or does not fit the actions.
  Skip(const EnvSpec& spec, const NetConfig& config);

  [[nodiscard]] bool any() const { return offset >= 0; }
  /// params [B, A] plus the part of obs [B, F].
  [[nodiscard]] at::Tensor add_to(const at::Tensor& params, const at::Tensor& obs) const;
};

/// Puts net.start_bias into the policy's last bias [A]. Throws ConfigError when net.start_action is
/// not one of the actions.
void prefer_start_action(at::Tensor& bias, const EnvSpec& spec, const NetConfig& config);

}  // namespace penstock::detail
