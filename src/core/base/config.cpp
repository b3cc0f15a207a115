#include "penstock/core/base/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>

#include "core/base/toml_limits.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/text.h"
#include "penstock/core/base/text_file.h"

#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
// toml++ 3.3 asserts on "[[[" before it reports it as an error; the error is enough.
#define TOML_ASSERT(x) static_assert(true)
#include <toml++/toml.h>

namespace penstock {
namespace {

constexpr std::string_view kVariablePrefix = "PENSTOCK_";

std::string allowed(const Field& field) {
  if (!field.choices.empty()) { return fmt::format("one of {}", fmt::join(field.choices, ", ")); }
  if (std::isfinite(field.range.min) && std::isfinite(field.range.max)) {
    return fmt::format("{}{} to {}", field.range.or_auto ? "auto, or " : "", field.range.min,
                       field.range.max);
  }
  if (std::isfinite(field.range.min)) { return fmt::format("at least {}", field.range.min); }
  if (std::isfinite(field.range.max)) { return fmt::format("at most {}", field.range.max); }
  return "";
}

[[noreturn]] void refuse(const Field& field, const Setting& setting, const std::string& wanted) {
  throw ConfigError(
      fmt::format("{} = {} ({}): expected {}", field.path, setting.text, setting.origin, wanted));
}

void check_range(const Field& field, const Setting& setting, double value) {
  if (!(value >= field.range.min && value <= field.range.max)) {
    refuse(field, setting, allowed(field));
  }
}

double parse_double(const Field& field, const Setting& setting, const std::string& text,
                    const char* wanted) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || setting.quoted || std::isnan(value)) {
    refuse(field, setting, wanted);
  }
  return value;
}

// Whole numbers may be written 1e6 or 1_000_000, as people do for step counts. Unsigned ones share
// TOML's 63 bits: a dump must be readable.
std::int64_t parse_integer(const Field& field, const Setting& setting, std::string text) {
  std::erase(text, '_');
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc{} && stop == end && !setting.quoted) { return value; }
  const char* wanted = field.range.or_auto ? "auto or a whole number" : "a whole number";
  const double real = parse_double(field, setting, text, wanted);
  constexpr double kExact = 9007199254740992.0;  // 2^53: beyond it a double skips whole numbers
  if (real != std::floor(real)) { refuse(field, setting, wanted); }
  if (std::abs(real) > kExact) {
    refuse(field, setting, "a whole number, at most 9223372036854775807 and with all its digits");
  }
  return static_cast<std::int64_t>(real);
}

struct Assign {
  const Field& field;
  const Setting& setting;

  void operator()(bool* target) const {
    const std::string& text = setting.text;
    const bool yes = text == "true" || text == "1";
    const bool no = text == "false" || text == "0";
    if (setting.quoted || (!yes && !no)) { refuse(field, setting, "true or false"); }
    *target = yes;
  }
  void operator()(std::int64_t* target) const {
    const bool automatic = field.range.or_auto && setting.text == "auto";
    *target = automatic ? field.range.automatic : integer(setting.text);
  }
  void operator()(std::uint64_t* target) const {
    const std::int64_t value = integer(setting.text);
    if (value < 0) { refuse(field, setting, "a whole number of at least 0"); }
    *target = value;
  }
  void operator()(double* target) const {
    *target = parse_double(field, setting, setting.text, "a number");
    check_range(field, setting, *target);
  }
  void operator()(std::string* target) const {
    const auto& words = field.choices;
    if (!words.empty() && std::find(words.begin(), words.end(), setting.text) == words.end()) {
      refuse(field, setting, allowed(field) + did_you_mean(setting.text, words));
    }
    *target = setting.text;
  }
  void operator()(std::vector<std::int64_t>* target) const {
    std::string text = setting.text;
    if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
      text = text.substr(1, text.size() - 2);
    }
    std::vector<std::int64_t> values;
    std::istringstream items(text);
    for (std::string item; std::getline(items, item, ',');) {
      values.push_back(integer(std::string(trimmed(item))));
    }
    *target = std::move(values);
  }

 private:
  [[nodiscard]] std::int64_t integer(const std::string& text) const {
    const std::int64_t value = parse_integer(field, setting, text);
    check_range(field, setting, value);
    return value;
  }
};

std::string toml_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') { out += '\\'; }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

struct Print {
  std::string operator()(const bool* value) const { return *value ? "true" : "false"; }
  std::string operator()(const std::int64_t* value) const { return fmt::format("{}", *value); }
  std::string operator()(const std::uint64_t* value) const { return fmt::format("{}", *value); }
  std::string operator()(const double* value) const {
    // "1" would read back as an integer; TOML wants the point.
    const std::string text = fmt::format("{}", *value);
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  }
  std::string operator()(const std::string* value) const { return toml_string(*value); }
  std::string operator()(const std::vector<std::int64_t>* value) const {
    return fmt::format("[{}]", fmt::join(*value, ", "));
  }
};

// `where` starts the message of an error: "run.toml:3: hidden".
std::string node_text(const toml::node& node, const std::string& where) {
  if (const auto* text = node.as_string()) { return text->get(); }
  if (const auto* value = node.as_boolean()) { return value->get() ? "true" : "false"; }
  if (const auto* value = node.as_integer()) { return fmt::format("{}", value->get()); }
  if (const auto* value = node.as_floating_point()) { return fmt::format("{}", value->get()); }
  if (const auto* list = node.as_array()) {
    std::vector<std::string> items;
    for (const toml::node& item : *list) {
      if (!item.is_number()) { throw ConfigError(where + ": a list holds numbers only"); }
      items.push_back(node_text(item, where));
    }
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
  throw ConfigError(where + ": dates are not values of any key");
}

/// The resolved config, which holds every value, is read by the same reader as any other.
void check_length(const std::string& path, const std::string& text, const std::string& origin) {
  constexpr std::size_t kLongest = 32'768;
  if (text.size() > kLongest) {
    throw ConfigError(fmt::format("{} ({}): a value of {} bytes, at most {} are read", path, origin,
                                  text.size(), kLongest));
  }
}

void flatten(const toml::table& table, const std::string& prefix, const std::string& file,
             std::vector<Setting>& out) {
  for (const auto& [key, node] : table) {
    const std::string path = prefix + std::string(key.str());
    if (const auto* nested = node.as_table()) {
      flatten(*nested, path + ".", file, out);
      continue;
    }
    const std::string origin = fmt::format("{}:{}", file, node.source().begin.line);
    out.push_back({.path = path,
                   .text = node_text(node, fmt::format("{}: {}", origin, path)),
                   .quoted = node.is_string(),
                   .origin = origin});
    check_length(path, out.back().text, origin);
  }
}

std::vector<std::string> paths_of(std::span<const Field> fields) {
  std::vector<std::string> paths;
  paths.reserve(fields.size());
  for (const Field& field : fields) { paths.push_back(field.path); }
  return paths;
}

}  // namespace

void Settings::add_toml_file(const std::string& path) {
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path)) {
    throw IoError(fmt::format("cannot read the config file {}", path));
  }
  add_toml(read_text(file, path, detail::kMaxTomlBytes), path.substr(path.find_last_of('/') + 1));
}

void Settings::add_toml(std::string_view text, const std::string& name) {
  detail::check_toml_limits(text, name);
  try {
    flatten(toml::parse(text), "", name, settings_);
  } catch (const toml::parse_error& error) {
    throw ConfigError(
        fmt::format("{}:{}: {}", name, error.source().begin.line, error.description()));
  }
}

void Settings::add_environment(std::span<const char* const> environment) {
  for (const char* entry : environment) {
    const std::string_view text(entry);
    const auto equals = text.find('=');
    if (!text.starts_with(kVariablePrefix) || equals == std::string_view::npos) { continue; }
    const std::string name(text.substr(0, equals));
    std::string path;
    for (std::size_t i = kVariablePrefix.size(); i < name.size(); ++i) {
      const bool dot = name.compare(i, 2, "__") == 0;
      path += dot ? '.' : static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
      i += dot ? 1 : 0;
    }
    add(path, std::string(text.substr(equals + 1)), name);
  }
}

void Settings::add(std::string path, std::string text, std::string origin) {
  check_length(path, text, origin);
  // Every value is printed into the resolved config: what that could not hold is refused here.
  try {
    std::ignore = toml::parse("text = " + toml_string(text));
  } catch (const toml::parse_error&) {
    throw ConfigError(fmt::format("{} ({}): the value is not UTF-8 text", path, origin));
  }
  settings_.push_back(
      {.path = std::move(path), .text = std::move(text), .origin = std::move(origin)});
}

void Settings::add_assignment(std::string_view assignment, const std::string& origin) {
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw UsageError(
        fmt::format("{} {}: expected key=value, as in ppo.clip=0.1", origin, assignment));
  }
  add(std::string(trimmed(assignment.substr(0, equals))),
      std::string(trimmed(assignment.substr(equals + 1))), origin);
}

const Setting* Settings::find(std::string_view path) const {
  const auto found = std::find_if(settings_.rbegin(), settings_.rend(),
                                  [&](const Setting& s) { return s.path == path; });
  return found == settings_.rend() ? nullptr : &*found;
}

void FieldList::add(const char* name, Field::Target target, const char* doc, Range range,
                    std::vector<std::string> choices) {
  fields_.push_back({.path = prefix_ + name,
                     .doc = doc,
                     .target = target,
                     .range = range,
                     .choices = std::move(choices)});
}

void apply(std::span<Field> fields, const Settings& settings) {
  for (const Setting& setting : settings.all()) {
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [&](const Field& f) { return f.path == setting.path; });
    if (field == fields.end()) {
      throw ConfigError(fmt::format("unknown key '{}' ({}){}", setting.path, setting.origin,
                                    did_you_mean(setting.path, paths_of(fields))));
    }
    std::visit(Assign{*field, setting}, field->target);
    field->origin = setting.origin;
  }
}

std::string value_text(const Field& field) {
  const auto* const* number = std::get_if<std::int64_t*>(&field.target);
  if (field.range.or_auto && number != nullptr && **number == field.range.automatic) {
    return "\"auto\"";
  }
  return std::visit([](auto* target) { return Print{}(target); }, field.target);
}

std::string to_toml(std::span<const Field> fields) {
  // TOML wants bare keys first and each section once, though a nested config may stand amid the
  // keys of its parent.
  std::vector<std::pair<std::string, std::string>> sections = {{"", ""}};  // name, lines
  for (const Field& field : fields) {
    const auto dot = field.path.rfind('.');
    const std::string name = dot == std::string::npos ? "" : field.path.substr(0, dot);
    auto section = std::find_if(sections.begin(), sections.end(),
                                [&](const auto& known) { return known.first == name; });
    if (section == sections.end()) {
      section = sections.insert(sections.end(), {name, fmt::format("\n[{}]\n", name)});
    }
    section->second +=
        fmt::format("{} = {}  # {}\n", field.path.substr(dot + 1), value_text(field), field.origin);
  }
  std::string out;
  for (const auto& [name, lines] : sections) { out += lines; }
  return out;
}

std::string to_markdown(std::span<const Field> fields) {
  std::string out = "| key | default | allowed | what it does |\n|---|---|---|---|\n";
  for (const Field& field : fields) {
    out += fmt::format("| `{}` | `{}` | {} | {} |\n", field.path, value_text(field), allowed(field),
                       field.doc);
  }
  return out;
}

}  // namespace penstock
