#include "penstock/core/base/json.h"

#include <nlohmann/json.hpp>

namespace penstock {

nlohmann::json parse_json(std::string_view text) { return nlohmann::json::parse(text); }

nlohmann::ordered_json parse_ordered_json(std::string_view text) {
  return nlohmann::ordered_json::parse(text);
}

nlohmann::json try_parse_json(std::string_view text) {
  return nlohmann::json::parse(text, nullptr, false);
}

nlohmann::ordered_json try_parse_ordered_json(std::string_view text) {
  return nlohmann::ordered_json::parse(text, nullptr, false);
}

std::string to_text(const nlohmann::json& value, int indent, BadUtf8 bad) {
  using Handler = nlohmann::json::error_handler_t;
  return value.dump(indent, ' ', false,
                    bad == BadUtf8::replace ? Handler::replace : Handler::strict);
}

std::string to_text(const nlohmann::ordered_json& value, int indent) { return value.dump(indent); }

}  // namespace penstock
