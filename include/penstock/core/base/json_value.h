#pragma once
#include <cmath>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "penstock/core/base/json.h"

namespace penstock {
namespace detail {

/// Whether a T holds this number, which a file or a request may have made anything.
template <std::integral T, class Value>
bool holds(const Value& number) {
  if (number.is_number_unsigned()) {
    return std::in_range<T>(number.template get_ref<const std::uint64_t&>());
  }
  if (number.is_number_integer()) {
    return std::in_range<T>(number.template get_ref<const std::int64_t&>());
  }
  const auto& x = number.template get_ref<const double&>();
  // The largest T need not be a double; one more than it is.
  const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
  return x >= (std::is_signed_v<T> ? -end : 0.0) && x < end && x == std::trunc(x);
}

}  // namespace detail

/// As nlohmann's own, but that a number which a whole type cannot hold is refused, where nlohmann
/// wraps or cuts it or, from a double, does what is undefined.
template <class T, class>
struct JsonConversion : nlohmann::adl_serializer<T> {};

template <std::integral T>
requires(!std::same_as<T, bool>) struct JsonConversion<T, void> {
  template <class Value>
  static void to_json(Value& value, T number) {
    nlohmann::to_json(value, number);
  }

  template <class Value>
  static void from_json(const Value& value, T& number) {
    if (value.is_number() && !detail::holds<T>(value)) {
      constexpr int kOutOfRange = 406;  // nlohmann's number of numbers beyond what is held
      throw Json::out_of_range::create(kOutOfRange,
                                       value.dump() + " is not a whole number from " +
                                           std::to_string(std::numeric_limits<T>::min()) + " to " +
                                           std::to_string(std::numeric_limits<T>::max()),
                                       nullptr);
    }
    nlohmann::from_json(value, number);
  }
};

}  // namespace penstock
