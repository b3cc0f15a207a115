#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "penstock/base/errors.h"

namespace penstock {

/// Saving and loading of small native state (env slots, random positions) by one function:
///     template <class Archive> void state(Archive& archive) { archive(x_, v_, random_); }
/// Members are numbers, enums, std::array of those, std::vector of those, or types with state().
/// Bytes are in the machine's order; a checkpoint records it.
namespace detail {

template <class Archive, class T>
concept HasState = requires(T value, Archive& archive) {
  value.state(archive);
};

}  // namespace detail

/// Appends to a byte vector.
class StateWriter {
 public:
  static constexpr bool kLoads = false;
  explicit StateWriter(std::vector<std::byte>& bytes) : bytes_(bytes) {}

  template <class... T>
  void operator()(T&... values) {
    (one(values), ...);
  }

 private:
  template <class T>
  void one(T& value) {
    if constexpr (detail::HasState<StateWriter, T>) {
      value.state(*this);
    } else {
      static_assert(std::is_trivially_copyable_v<T>, "give the type a state(archive) function");
      raw(&value, sizeof(T));
    }
  }
  template <class T>
  void one(std::vector<T>& values) {
    std::uint64_t size = values.size();
    one(size);
    for (T& value : values) { one(value); }
  }
  // Out of line: inlined into its callers, GCC 12 sees overflows in it that are not there.
  void raw(const void* data, std::size_t size);

  std::vector<std::byte>& bytes_;
};

/// Reads what StateWriter wrote. Throws DataError when the bytes end too early.
class StateReader {
 public:
  static constexpr bool kLoads = true;
  explicit StateReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class... T>
  void operator()(T&... values) {
    (one(values), ...);
  }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

 private:
  template <class T>
  void one(T& value) {
    if constexpr (detail::HasState<StateReader, T>) {
      value.state(*this);
    } else if constexpr (std::is_same_v<T, bool>) {
      // A bool that is neither 0 nor 1 would be undefined behaviour.
      unsigned char byte = 0;
      raw(&byte, sizeof(byte));
      value = byte != 0;
    } else {
      static_assert(std::is_trivially_copyable_v<T>, "give the type a state(archive) function");
      raw(&value, sizeof(T));
    }
  }
  template <class T>
  void one(std::vector<T>& values) {
    std::uint64_t size = 0;
    one(size);
    // Every element takes at least a byte, so a hostile size is refused before memory is asked for.
    if (size > bytes_.size()) {
      throw DataError("env state: a list is longer than the bytes given");
    }
    values.resize(size);
    for (T& value : values) { one(value); }
  }
  void raw(void* data, std::size_t size) {
    if (size > bytes_.size()) { throw DataError("env state: the bytes end too early"); }
    std::memcpy(data, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
  }

  std::span<const std::byte> bytes_;
};

}  // namespace penstock
