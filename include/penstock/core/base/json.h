#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

/// How values become numbers and texts; `json_value.h` has it.
template <class T, class = void>
struct JsonConversion;

/// What `json_value.h` makes complete: a value whose numbers are checked when they are asked for.
using Json = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t,
                                  std::uint64_t, double, std::allocator, JsonConversion>;
/// The same, with the keys of objects in the order in which they came.
using OrderedJson =
    nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t,
                         std::uint64_t, double, std::allocator, JsonConversion>;

// The one reader and the one writer of JSON text. nlohmann's bodies of the two cost 4 s in every
// file that uses them: they are compiled here only. All functions are thread-safe.

/// What a text may be like, whoever wrote it: what walks over a value calls itself for each level,
/// and a value takes up to twenty times the memory of its text.
struct JsonLimits {
  std::size_t max_bytes = 64'000'000;
  std::size_t max_depth = 64;
  std::size_t max_keys = 64'000'000;  // of all objects together
};

/// Of values that keep the order of keys: each key is compared with all before it.
inline constexpr JsonLimits kOrderedJsonLimits{.max_keys = 20'000};

/// The value that a text holds. Throws Json::parse_error, also for a text beyond the
/// limits, or Json::out_of_range for a number beyond all doubles.
Json parse_json(std::string_view text, const JsonLimits& limits = {});
/// The same, with the keys of objects in the order of the text.
OrderedJson parse_ordered_json(std::string_view text);

/// The same without exceptions: of a text that is not JSON or beyond the limits, a discarded value,
/// which is neither an object nor an array nor anything else.
Json try_parse_json(std::string_view text);
/// The same, with the keys of objects in the order of the text.
OrderedJson try_parse_ordered_json(std::string_view text);

/// What is done with text that is not UTF-8.
enum class BadUtf8 { refuse, replace };

/// A value as text: on one line, or with this many spaces for each level. Throws
/// Json::type_error for text that is not UTF-8, unless it is to be replaced.
std::string to_text(const Json& value, int indent = -1, BadUtf8 bad = BadUtf8::refuse);
std::string to_text(const OrderedJson& value, int indent = -1);

}  // namespace penstock
