#include <fmt/format.h>

#include <algorithm>

#include "app/cli/verbs.h"
#include "penstock/core/train/config.h"

namespace penstock::cli {
namespace {

std::string flag_of(const Field& field) {
  std::string name = field.path.substr(field.path.find('.') + 1);
  std::ranges::replace(name, '_', '-');
  return "--" + name;
}

/// Which field a flag means and, where the flag alone says it, the value: --async-embedding is the
/// choice async of the key embedding.
struct Meaning {
  const Field* field = nullptr;
  std::string value;
};

Meaning meaning_of(const std::string& flag, const std::vector<Field>& fields) {
  for (const Field& field : fields) {
    if (flag_of(field) == flag) { return {&field, ""}; }
    for (const std::string& choice : field.choices) {
      if ("--" + choice + flag_of(field).substr(1) == flag) { return {&field, choice}; }
    }
  }
  return {};
}

std::vector<std::string> spellings(const Options& verb, const std::vector<Field>& fields) {
  std::vector<std::string> names = verb.spellings();
  for (const Field& field : fields) { names.push_back(flag_of(field)); }
  return names;
}

}  // namespace

void add_env_flags(const Options& verb, const Catalog& catalog, Settings& settings) {
  const std::vector<std::string> words = verb.extras();
  if (words.empty()) { return; }
  const Setting* id = settings.find("env.id");
  const auto env = catalog.env(id == nullptr ? EnvConfig{}.id : id->text);
  const std::vector<Field> fields = env->fields();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    const auto [field, choice] = meaning_of(name, fields);
    if (field == nullptr) {
      throw UsageError(fmt::format("{}: neither an option of {} nor a key of the env{}", words[i],
                                   verb.name(), did_you_mean(name, spellings(verb, fields))));
    }
    std::string value = choice;
    if (name.size() < words[i].size()) {
      value = words[i].substr(name.size() + 1);
    } else if (choice.empty() && i + 1 < words.size() && !words[i + 1].starts_with("--")) {
      value = words[++i];
    } else if (std::holds_alternative<bool*>(field->target)) {
      value = "true";
    } else if (choice.empty()) {
      throw UsageError(fmt::format("{}: expected a value [{}]", name, field->path));
    }
    settings.add(field->path, value, name);
  }
}

}  // namespace penstock::cli
