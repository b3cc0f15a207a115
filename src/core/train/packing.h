#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "penstock/core/base/archive.h"

namespace penstock::detail {

/// A value as it crosses processes of one build; see core/base/archive.h.
template <class T>
std::vector<std::byte> packed(const T& value) {
  std::vector<std::byte> bytes;
  StateWriter writer(bytes);
  writer(value);
  return bytes;
}

template <class T>
T unpacked(std::span<const std::byte> bytes) {
  T value;
  StateReader reader(bytes);
  reader(value);
  return value;
}

}  // namespace penstock::detail
