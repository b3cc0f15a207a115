#include "penstock/domains/cage2/sim/opponent.h"

#include <algorithm>
#include <filesystem>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"

namespace penstock::cage2 {
namespace {

constexpr std::uint32_t kOpponents = 3;  // owner of their random numbers: not those of the game

std::string list_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) { text.append(word).append(", "); }
  return text;
}

[[noreturn]] void refuse_opponent(const std::string& key, const std::string& word,
                                  const std::vector<std::string>& scripts) {
  throw ConfigError(key + " = " + word + ": expected " + list_of(scripts) +
                    "or a policy file that `penstock export` wrote" + did_you_mean(word, scripts));
}

}  // namespace

Opponents opponents_of(const std::string& key, const std::string& text,
                       const std::vector<std::string>& scripts, const OpponentLoader& load) {
  Opponents all;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    std::string word(rest.substr(0, comma));
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    word.erase(0, word.find_first_not_of(' '));
    if (word.empty()) { continue; }
    if (std::ranges::find(scripts, word) != scripts.end()) {
      all.push_back({.name = word});
      continue;
    }
    if (!load || !std::filesystem::is_regular_file(word)) { refuse_opponent(key, word, scripts); }
    all.push_back(load(word));
  }
  if (all.empty()) { throw ConfigError(key + ": name at least one opponent"); }
  return all;
}

void require_spec(const std::string& key, const OpponentEntry& entry, const EnvSpec& wanted,
                  const std::string& env) {
  if (entry.spec.obs.size() == wanted.obs.size() &&
      entry.spec.action.num_actions() == wanted.action.num_actions() &&
      !entry.spec.action.continuous() && entry.spec.action.dims() == 1) {
    return;
  }
  throw ConfigError(key + " = " + entry.name + ": a policy of " +
                    std::to_string(entry.spec.obs.size()) + " numbers and " +
                    std::to_string(entry.spec.action.num_actions()) +
                    " actions; give one that was trained on " + env);
}

std::size_t draw_opponent(std::uint64_t seed, std::size_t count) {
  if (count <= 1) { return 0; }
  Random random({.seed = seed, .owner = kOpponents});
  return random.below(count);
}

}  // namespace penstock::cage2
