#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace penstock {

// The one reader and the one writer of JSON text. nlohmann's bodies of the two cost 4 s in every
// file that uses them: they are compiled here only. All functions are thread-safe.

/// The value that a text holds. Throws nlohmann::json::parse_error, or nlohmann::json::out_of_range
/// for a number beyond all doubles.
nlohmann::json parse_json(std::string_view text);
/// The same, with the keys of objects in the order of the text.
nlohmann::ordered_json parse_ordered_json(std::string_view text);

/// The same without exceptions: of a text that is not JSON, a discarded value, which is neither an
/// object nor an array nor anything else.
nlohmann::json try_parse_json(std::string_view text);
/// The same, with the keys of objects in the order of the text.
nlohmann::ordered_json try_parse_ordered_json(std::string_view text);

/// What is done with text that is not UTF-8.
enum class BadUtf8 { refuse, replace };

/// A value as text: on one line, or with this many spaces for each level. Throws
/// nlohmann::json::type_error for text that is not UTF-8, unless it is to be replaced.
std::string to_text(const nlohmann::json& value, int indent = -1, BadUtf8 bad = BadUtf8::refuse);
std::string to_text(const nlohmann::ordered_json& value, int indent = -1);

}  // namespace penstock
