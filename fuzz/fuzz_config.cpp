// A config text is either refused with an error of the user's or read, printed and read back equal.
// The first line is a --set assignment, the rest is TOML.
#include <cstdlib>

#include "penstock/core/base/config.h"
#include "penstock/core/base/errors.h"

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

std::string resolved(const Settings& settings) {
  Config config;
  std::vector<Field> fields = fields_of(config);
  apply(fields, settings);
  for (Field& field : fields) { field.origin = "x"; }
  return to_toml(fields);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  std::string first;
  try {
    Settings settings;
    if (line != std::string_view::npos) {
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
