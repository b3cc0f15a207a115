#include "penstock/core/base/json.h"

#include <fmt/format.h>

#include "penstock/core/base/json_value.h"

namespace penstock {
namespace {

/// Where a string ends whose first quote is at `at`.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') { ++at; }
  }
  return at;
}

struct Excess {
  std::size_t at = 0;
  std::string reason;  // empty: there is none
};

/// Before anything is made of the text: a parser that counts as it goes has taken the memory by
/// then.
Excess excess_of(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return {0, fmt::format("{} bytes, at most {} are read", text.size(), limits.max_bytes)};
  }
  std::size_t depth = 0;
  std::size_t keys = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '"':
        i = end_of_string(text, i);
        break;
      case '[':
      case '{':
        if (++depth > limits.max_depth) {
          return {i, fmt::format("nested more than {} levels deep", limits.max_depth)};
        }
        break;
      case ']':
      case '}':
        depth -= depth > 0 ? 1 : 0;
        break;
      case ':':
        if (++keys > limits.max_keys) {
          return {i, fmt::format("more than {} keys", limits.max_keys)};
        }
        break;
      default:
        break;
    }
  }
  return {};
}

template <class Value>
Value parse_limited(std::string_view text, const JsonLimits& limits) {
  if (const Excess excess = excess_of(text, limits); !excess.reason.empty()) {
    constexpr int kUnexpected = 101;  // nlohmann's number of what it did not expect
    throw Json::parse_error::create(kUnexpected, excess.at, excess.reason, nullptr);
  }
  return Value::parse(text);
}

template <class Value>
Value try_parse_limited(std::string_view text, const JsonLimits& limits) {
  if (!excess_of(text, limits).reason.empty()) { return Value(Value::value_t::discarded); }
  return Value::parse(text, nullptr, false);
}

}  // namespace

Json parse_json(std::string_view text, const JsonLimits& limits) {
  return parse_limited<Json>(text, limits);
}

OrderedJson parse_ordered_json(std::string_view text) {
  return parse_limited<OrderedJson>(text, kOrderedJsonLimits);
}

Json try_parse_json(std::string_view text) { return try_parse_limited<Json>(text, {}); }

OrderedJson try_parse_ordered_json(std::string_view text) {
  return try_parse_limited<OrderedJson>(text, kOrderedJsonLimits);
}

std::string to_text(const Json& value, int indent, BadUtf8 bad) {
  using Handler = Json::error_handler_t;
  return value.dump(indent, ' ', false,
                    bad == BadUtf8::replace ? Handler::replace : Handler::strict);
}

std::string to_text(const OrderedJson& value, int indent) { return value.dump(indent); }

}  // namespace penstock
