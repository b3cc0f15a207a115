#pragma once
#include <span>
#include <string>
#include <vector>

namespace penstock {

/// Throws ConfigError: "env.id = cartpol: not one of cartpole, pendulum, did you mean 'cartpole'?"
[[noreturn]] void refuse_name(const std::string& key, const std::string& name,
                              std::span<const std::string> names);

/// The line of that name in a table of a catalog; of doubles the first. Throws ConfigError as
/// refuse_name() does. `key` is what the user set.
template <class Entry>
const Entry& find_entry(const std::vector<Entry>& entries, const std::string& key,
                        const std::string& name) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) {
    if (entry.name == name) { return entry; }
    names.push_back(entry.name);
  }
  refuse_name(key, name, names);
}

}  // namespace penstock
