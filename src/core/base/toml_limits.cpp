#include "core/base/toml_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "penstock/core/base/errors.h"

namespace penstock::detail {
namespace {

/// Where the string ends whose first quote is at `at`, by TOML's rules: three quotes open one of
/// several lines; backslashes count in strings of double quotes only.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool lines = text.substr(at, 3) == std::string(3, quote);
  const std::string close(lines ? 3 : 1, quote);
  for (at += close.size(); at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (text.substr(at, close.size()) == close) {
      at += close.size() - 1;
      while (lines && at + 1 < text.size() && text[at + 1] == quote) { ++at; }
      return at;
    } else if (text[at] == '\n' && !lines) {
      return at;
    }
  }
  return text.size();
}

/// Between two of these lies at most one key or value.
bool separates(char c) { return std::string_view("\n=[]{},").find(c) != std::string_view::npos; }

/// What is open at a place of the text outside of strings and comments.
struct Tower {
  int parts = 1;    // of the key that the place may belong to
  int nesting = 0;  // lists and inline tables around it

  void add(char c) {
    if (c == '.') { ++parts; }
    if (separates(c)) { parts = 1; }
    if (c == '[' || c == '{') { ++nesting; }
    if (c == ']' || c == '}') { --nesting; }
  }
};

[[noreturn]] void refuse(std::string_view text, std::size_t at, const std::string& name,
                         const std::string& what) {
  const auto before = text.substr(0, at);
  throw ConfigError(
      fmt::format("{}:{}: {}", name, 1 + std::count(before.begin(), before.end(), '\n'), what));
}

}  // namespace

void check_toml_limits(std::string_view text, const std::string& name) {
  if (text.size() > kMaxTomlBytes) {
    throw ConfigError(
        fmt::format("{}: {} bytes, a config has at most {}", name, text.size(), kMaxTomlBytes));
  }
  Tower tower;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' || text[i] == '\'') {
      i = end_of_string(text, i);
    } else if (text[i] == '#') {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else {
      tower.add(text[i]);
    }
    if (tower.parts > kMaxTomlKeyParts) {
      refuse(text, i, name, fmt::format("a key of more than {} parts", kMaxTomlKeyParts));
    }
    if (tower.nesting > kMaxTomlNesting) {
      refuse(text, i, name, fmt::format("values nested more than {} deep", kMaxTomlNesting));
    }
  }
}

}  // namespace penstock::detail
