#include "penstock/core/base/archive.h"

namespace penstock {

void StateWriter::raw(const void* data, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(data);
  bytes_.insert(bytes_.end(), first, first + size);
}

}  // namespace penstock
