#pragma once
#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "penstock/core/base/moments.h"
#include "penstock/core/nn/policy.h"
#include "penstock/core/store/checkpoint.h"

// The tensors of a checkpoint. Reading throws DataError that names the file and the tensor.

namespace penstock::detail {

/// A copy, because the file's bytes go away and need not be aligned.
at::Tensor read_tensor(const Checkpoint& checkpoint, const std::string& file,
                       const std::string& name);
/// Into a tensor of the same shape and type.
void read_into(const Checkpoint& checkpoint, const std::string& file, const std::string& name,
               const at::Tensor& target);
/// Of one that was read; the names are for the message.
void copy_into(const at::Tensor& tensor, const std::string& file, const std::string& name,
               const at::Tensor& target);

/// A view of a tensor that is contiguous and on the CPU; of its memory, which must stay.
TensorView view_of(const std::string& name, const at::Tensor& tensor);

/// Every parameter by name.
void read_weights(const Checkpoint& checkpoint, Policy& policy);
/// That the run normalised observations if and only if the config does.
void check_normalised(const Checkpoint& checkpoint, bool normalised);
/// The observation normaliser's moments. [features]
std::vector<Moments> read_moments(const Checkpoint& checkpoint, std::size_t features);
/// What the envs learnt together; empty where they share nothing, and in checkpoints from before
/// they could.
std::vector<std::byte> shared_bytes(const Checkpoint& checkpoint);

}  // namespace penstock::detail
