#include "penstock/core/algo/learner.h"

#include <algorithm>

#include "penstock/core/base/errors.h"

namespace penstock {

const at::Tensor& LearnerState::at(const std::string& name) const {
  const auto entry = std::ranges::find(tensors, name, &Entry::name);
  if (entry == tensors.end()) { throw DataError("checkpoint: '" + name + "' is missing"); }
  return entry->tensor;
}

}  // namespace penstock
