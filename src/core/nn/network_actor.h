#pragma once
#include <ATen/core/Tensor.h>

#include <memory>

#include "penstock/core/act/actor.h"
#include "penstock/core/nn/network.h"

namespace penstock::detail {

/// Acts with a network of libtorch on a device, whose parameters become the model's weights.
std::unique_ptr<Actor> make_network_actor(std::unique_ptr<Network> network, at::Device device,
                                          const std::shared_ptr<const PolicyModel>& model);

}  // namespace penstock::detail
