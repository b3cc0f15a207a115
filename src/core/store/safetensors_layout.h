#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "penstock/core/store/safetensors.h"

namespace penstock::detail {

/// A file to be written, without a second copy of the tensors: `head`, then the data.
struct SafetensorsLayout {
  std::string head;                              // header size and JSON
  std::vector<std::span<const std::byte>> data;  // wide elements first

  /// All of it in the file's order; points into this object.
  [[nodiscard]] std::vector<std::span<const std::byte>> parts() const;
};

/// Our own mistakes (bytes that do not match the shape, a name twice) are failed checks.
SafetensorsLayout lay_out(std::span<const TensorView> tensors,
                          const std::map<std::string, std::string>& metadata);

}  // namespace penstock::detail
