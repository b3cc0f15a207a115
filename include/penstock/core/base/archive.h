#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/core/base/errors.h"

namespace penstock {

/// Saving and loading of small native state (env slots, random positions) by one function:
///     template <class Archive> void state(Archive& archive) { archive(x_, v_, random_); }
/// Members are numbers, enums, std::string, std::array, std::vector, std::deque, std::map and
/// std::pair of those, or types with state(). What a file cannot bring back does not compile: a
/// pointer, a view (std::span, std::string_view), a class without state(), whose padding would be
/// saved with it.
/// Bytes are in the machine's order; a checkpoint records it.
namespace detail {

template <class Archive, class T>
/// Types that list their own members.
concept HasState = requires(T value, Archive& archive) {
  value.state(archive);
};

/// What is saved byte by byte.
template <class T>
concept PlainNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <class T>
inline constexpr bool kCanBeSaved = false;  // depends on T, so that it fails where it is used

}  // namespace detail

/// Appends to a byte vector.
/// Numbers are written as they lie in memory, lists as their length (8 bytes) and their elements.
/// The vector must outlive it.
///
///     std::vector<std::byte> bytes;
///     StateWriter(bytes)(steps_, random_);
class StateWriter {
 public:
  static constexpr bool kLoads = false;  // for `if constexpr` in state()
  explicit StateWriter(std::vector<std::byte>& bytes) : bytes_(bytes) {}

  /// One after another. The values are only read.
  template <class... T>
  void operator()(const T&... values) {
    (one(values), ...);
  }

 private:
  template <class T>
  void one(const T& value) {
    if constexpr (detail::HasState<StateWriter, T>) {
      // state() serves loading too and so is not const; a writer changes nothing.
      const_cast<T&>(value).state(*this);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    } else if constexpr (detail::PlainNumber<T>) {
      raw(&value, sizeof(T));
    } else {
      static_assert(
          detail::kCanBeSaved<T>,
          "a pointer, a view or a class without a state(archive) function cannot be saved");
    }
  }
  template <class T, std::size_t N>
  void one(const std::array<T, N>& values) {
    for (const T& value : values) { one(value); }
  }
  template <class A, class B>
  void one(const std::pair<A, B>& both) {
    one(both.first);
    one(both.second);
  }
  template <class T>
  void one(const std::vector<T>& values) {
    list(values);
  }
  template <class T>
  void one(const std::deque<T>& values) {
    list(values);
  }
  template <class K, class V>
  void one(const std::map<K, V>& values) {
    list(values);
  }
  void one(const std::string& text) { list(text); }
  template <class List>
  void list(const List& values) {
    one(std::uint64_t{values.size()});
    for (const auto& value : values) { one(value); }
  }
  // Out of line: inlined into its callers, GCC 12 sees overflows in it that are not there.
  void raw(const void* data, std::size_t size);

  std::vector<std::byte>& bytes_;
};

/// Reads what StateWriter wrote. Throws DataError when the bytes end too early.
/// The bytes must outlive it. Types are not recorded: whoever reads asks for what was written, in
/// the same order. Numbers are not judged; a state() that indexes by one checks it after loading.
class StateReader {
 public:
  static constexpr bool kLoads = true;  // for `if constexpr` in state()
  explicit StateReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  /// One after another. What was read before a failure stays read.
  template <class... T>
  void operator()(T&... values) {
    (one(values), ...);
  }
  /// Whether all bytes were read. Bytes that are left over are the caller's to refuse.
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
    } else if constexpr (detail::PlainNumber<T>) {
      raw(&value, sizeof(T));
    } else {
      static_assert(
          detail::kCanBeSaved<T>,
          "a pointer, a view or a class without a state(archive) function cannot be loaded");
    }
  }
  template <class T, std::size_t N>
  void one(std::array<T, N>& values) {
    for (T& value : values) { one(value); }
  }
  template <class A, class B>
  void one(std::pair<A, B>& both) {
    one(both.first);
    one(both.second);
  }
  template <class T>
  void one(std::vector<T>& values) {
    values.resize(size());
    for (T& value : values) { one(value); }
  }
  template <class T>
  void one(std::deque<T>& values) {
    values.resize(size());
    for (T& value : values) { one(value); }
  }
  template <class K, class V>
  void one(std::map<K, V>& values) {
    values.clear();
    for (std::uint64_t left = size(); left > 0; --left) {
      std::pair<K, V> entry;
      one(entry);
      values.insert(std::move(entry));
    }
  }
  void one(std::string& text) {
    text.resize(size());
    for (char& letter : text) { one(letter); }
  }
  /// Of a list. Every element takes at least a byte, so a hostile size is refused before memory is
  /// asked for.
  std::uint64_t size() {
    std::uint64_t size = 0;
    one(size);
    if (size > bytes_.size()) {
      throw DataError("env state: a list is longer than the bytes given");
    }
    return size;
  }
  void raw(void* data, std::size_t size) {
    if (size > bytes_.size()) { throw DataError("env state: the bytes end too early"); }
    std::memcpy(data, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
  }

  std::span<const std::byte> bytes_;
};

}  // namespace penstock
