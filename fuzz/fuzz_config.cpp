// A config text is either refused with an error of the user's or read, printed and read back equal.
// The first line is a --set assignment, the rest is TOML. A text within the limits is a table of
// bounded depth, config or not.
#include <cstdlib>

#include "core/base/toml_limits.h"
#include "mutate.h"
#include "penstock/core/base/config.h"
#include "penstock/core/base/errors.h"

#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ASSERT(x) static_assert(true)  // as config.cpp has it
#include <toml++/toml.h>

namespace {

using namespace penstock;

struct Inner {
  double clip = 0.2;
  std::vector<std::int64_t> hidden = {64, 64};

  template <class Visitor>
  void fields(Visitor& visit) {
    visit("clip", clip, "a number", Range{0, 1});
    visit("hidden", hidden, "a list", Range{1, 4096});
  }
};

struct Config {
  bool norm = true;
  std::int64_t steps = 100;
  std::uint64_t seed = 1;
  double rate = 3e-4;
  std::string dir = "runs/a";
  std::string activation = "tanh";
  Inner ppo;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit("norm", norm, "a switch");
    visit("steps", steps, "a count", Range{1, 1e9});
    visit("seed", seed, "any number");
    visit("rate", rate, "any real number");
    visit("dir", dir, "any text");
    visit("activation", activation, "a word", Choices{"tanh", "relu"});
    visit("ppo", ppo, "nested");
  }
};

std::size_t depth_of(const toml::node& node) {
  std::size_t deepest = 0;
  const auto look = [&](const toml::node& item) { deepest = std::max(deepest, depth_of(item)); };
  if (const auto* table = node.as_table()) {
    for (const auto& [key, item] : *table) { look(item); }
  } else if (const auto* list = node.as_array()) {
    for (const toml::node& item : *list) { look(item); }
  } else {
    return 0;
  }
  return deepest + 1;
}

void check_depth(std::string_view text) {
  detail::check_toml_limits(text, "fuzz.toml");
  try {
    if (depth_of(toml::parse(text)) > detail::kMaxTomlDepth) { std::abort(); }
  } catch (const toml::parse_error&) {
    return;  // any other exception is a crash
  }
}

std::string resolved(const Settings& settings) {
  Config config;
  std::vector<Field> fields = fields_of(config);
  penstock::apply(fields, settings);
  for (Field& field : fields) { field.origin = "x"; }
  return to_toml(fields);
}

}  // namespace

FUZZ_TEXT_MUTATOR

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  std::string first;
  try {
    Settings settings;
    if (line != std::string_view::npos) {
      check_depth(text.substr(line + 1));
      settings.add_toml(text.substr(line + 1), "fuzz.toml");
      if (line != 0) { settings.add_assignment(text.substr(0, line), "--set"); }
    }
    first = resolved(settings);
  } catch (const Error&) {
    return 0;  // any other exception is a crash
  }
  Settings printed;
  printed.add_toml(first, "printed.toml");  // throws, and so crashes, when we print no TOML
  if (resolved(printed) != first) { std::abort(); }
  return 0;
}
