#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace penstock {

/// Configuration, listed once. A component has one `struct Config` with in-class defaults and one
/// function that names each key, its place and its doc line:
///
///     struct Config {
///       double clip = 0.2;
///       std::string activation = "tanh";
///       template <class Visitor> void fields(Visitor& visit) {
///         visit("clip", clip, "how far the probability ratio may move", Range{0, 1});
///         visit("activation", activation, "between layers", Choices{"tanh", "relu"});
///       }
///     };
///
/// TOML files, environment variables, `--set a.b=c`, the resolved dump and the docs page derive
/// from it. Nested configs are visited like values: visit("ppo", ppo, "the update").

/// Allowed interval of a number, ends included.
/// Of a list, every element lies in it.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool or_auto = false;  // a whole number that may be written "auto", which is `automatic`
  std::int64_t automatic = 0;
};

/// Allowed words of a string.
/// Case counts.
struct Choices {
  std::vector<std::string> words;  // in the order that the help lists them
  Choices(std::initializer_list<std::string> list) : words(list) {}
  explicit Choices(std::vector<std::string> list) : words(std::move(list)) {}
};

/// A reference to one key of some config object, which must outlive it.
struct Field {
  using Target = std::variant<bool*, std::int64_t*, std::uint64_t*, double*, std::string*,
                              std::vector<std::int64_t>*>;
  std::string path;  // "ppo.clip"
  std::string doc;   // what the key sets, as one line
  Target target;     // points into the config
  Range range = {};
  std::vector<std::string> choices = {};  // empty: any text
  std::string origin = "default";         // "run.toml:3", "PENSTOCK_SEED", "--set"
};

/// Builds the list of fields of a config; itself the visitor.
/// Names and docs are copied; values are pointed to.
class FieldList {
 public:
  explicit FieldList(std::vector<Field>& fields, std::string prefix = "")
      : fields_(fields), prefix_(std::move(prefix)) {}

  /// A key without limits, or a nested config, whose keys get the name and a dot in front.
  template <class T>
  void operator()(const char* name, T& value, const char* doc) {
    if constexpr (requires(FieldList & list) { value.fields(list); }) {
      FieldList nested(fields_, prefix_ + name + ".");
      value.fields(nested);
    } else {
      add(name, &value, doc, {}, {});
    }
  }
  /// A number or a list of numbers.
  template <class T>
  void operator()(const char* name, T& value, const char* doc, Range range) {
    add(name, &value, doc, range, {});
  }
  /// One of several words.
  void operator()(const char* name, std::string& value, const char* doc, Choices choices) {
    add(name, &value, doc, {}, std::move(choices.words));
  }

 private:
  void add(const char* name, Field::Target target, const char* doc, Range range,
           std::vector<std::string> choices);

  std::vector<Field>& fields_;
  std::string prefix_;
};

/// The fields of `config` under `prefix` ("" or "env."), pointing into it.
template <class Config>
/// The config must outlive the fields and stay where it is.
std::vector<Field> fields_of(Config& config, std::string prefix = "") {
  std::vector<Field> fields;
  FieldList list(fields, std::move(prefix));
  config.fields(list);
  return fields;
}

/// One value given by someone, before it meets its field.
struct Setting {
  std::string path;
  std::string text;     // lists as "[64, 64]"
  bool quoted = false;  // a TOML string: not acceptable where a number is wanted
  std::string origin;
};

/// What a file, the environment and the command line say, in growing precedence.
/// What is added later wins. Nothing is checked against keys before apply().
///
///     Settings settings;
///     settings.add_assignment("ppo.clip=0.1", "--set");
class Settings {
 public:
  /// Throws ConfigError with file and line when it is not TOML, IoError when unreadable.
  /// Adds every key of a file.
  void add_toml_file(const std::string& path);
  /// The same from a text; `name` stands for the file in messages.
  void add_toml(std::string_view text, const std::string& name);
  /// PENSTOCK_SEED, PENSTOCK_PPO__CLIP (two underscores for the dot). `environment` is
  /// "NAME=value". Names that match no key of any config are reported by apply() like any unknown
  /// key.
  void add_environment(std::span<const char* const> environment);
  /// One value. Throws ConfigError when the text is not UTF-8.
  void add(std::string path, std::string text, std::string origin);
  /// One value as it is, unchecked.
  void append(Setting setting) { settings_.push_back(std::move(setting)); }
  /// "a.b=c", as --set takes it.
  /// Throws UsageError without a key or a "=".
  void add_assignment(std::string_view assignment, const std::string& origin);

  /// The value that wins for this key, or null.
  /// Valid until something is added.
  [[nodiscard]] const Setting* find(std::string_view path) const;
  [[nodiscard]] const std::vector<Setting>& all() const { return settings_; }

 private:
  std::vector<Setting> settings_;
};

/// Puts every setting into its field. Throws ConfigError naming key, value, what is allowed and the
/// nearest spelling.
/// Goes by the order of the settings: those before the fault are in their fields when it throws.
void apply(std::span<Field> fields, const Settings& settings);

/// The current value as TOML text.
std::string value_text(const Field& field);

/// A complete TOML document, every key with its origin as a comment. add_toml() reads it back to
/// equal values.
std::string to_toml(std::span<const Field> fields);

/// A Markdown table of keys, defaults, allowed values and doc lines.
std::string to_markdown(std::span<const Field> fields);

}  // namespace penstock
