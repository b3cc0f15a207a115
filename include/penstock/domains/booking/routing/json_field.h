#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "penstock/core/base/json_value.h"
#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking {

/// A value of a JSON document that knows its way there; the way is put in words only when something
/// is wrong. A field must not outlive its parent.
class JsonField {
 public:
  JsonField(const Json& value, const std::string& document) : value_(value), document_(&document) {}

  [[nodiscard]] bool has(const char* key) const { return value_.contains(key); }
  [[nodiscard]] JsonField at(const char* key) const;
  [[nodiscard]] std::size_t size() const { return value_.size(); }
  [[nodiscard]] JsonField at(std::size_t index) const;
  [[nodiscard]] const Json& json() const { return value_; }

  /// Complain unless it is an object of no other keys, or an array of at most so many.
  void require_object(std::initializer_list<std::string_view> keys) const;
  void require_array(std::size_t most) const;

  [[nodiscard]] double number(double low, double high) const;
  [[nodiscard]] std::int32_t integer(std::int32_t low, std::int32_t high) const;
  [[nodiscard]] const std::string& text() const;
  /// A text, or a whole number as a text.
  [[nodiscard]] std::string name() const;
  /// Seconds since midnight, "HH:MM" or "HH:MM:SS"; up to a week.
  [[nodiscard]] Seconds time() const;

  [[noreturn]] void fail(std::string_view message) const;

 private:
  JsonField(const Json& value, const JsonField& parent, const char* key, std::size_t index)
      : value_(value), document_(parent.document_), parent_(&parent), key_(key), index_(index) {}
  [[nodiscard]] std::string path() const;

  const Json& value_;
  const std::string* document_;
  const JsonField* parent_ = nullptr;
  const char* key_ = nullptr;
  std::size_t index_ = 0;
};

}  // namespace penstock::booking
