#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <memory>

#include "domains/cage2/cli/belief_json.h"
#include "domains/cage2/cli/verbs.h"
#include "penstock/core/base/config.h"

namespace penstock::cage2 {
namespace {

/// A game as Blue is told of it.
struct Believed : GameConfig {
  std::int64_t num_hypotheses = 64;

  template <class Visitor>
  void fields(Visitor& visit) {
    GameConfig::fields(visit);
    visit("num_hypotheses", num_hypotheses, "most hypotheses of the filter", Range{1, 100000});
  }
};

/// Until the input ends. A line that makes no sense ends it too: what follows would be another
/// game.
Exit answer_lines(const Settings& settings) {
  constexpr std::size_t kLongestLine = 4096;
  Believed game;
  std::vector<Field> fields = fields_of(game, "env.");
  penstock::apply(fields, settings);
  BeliefFilter filter(game, static_cast<std::size_t>(game.num_hypotheses));
  std::array<char, kLongestLine> line{};
  std::int64_t number = 1;
  for (; std::cin.getline(line.data(), line.size()); ++number) {
    try {
      fmt::print("{}\n", believe(filter, line.data()));
    } catch (const DataError& error) {
      throw DataError(fmt::format("line {}: {}", number, error.what()));
    }
    std::fflush(stdout);
  }
  if (!std::cin.eof()) {
    throw DataError(fmt::format("line {}: longer than {} bytes", number, kLongestLine - 1));
  }
  return Exit::ok;
}

}  // namespace

Verb believe_verb(Options& app) {
  auto settings = std::make_shared<Settings>();
  Options& verb = app.add_command(
      "believe", "tell what Blue can infer of red, a line of JSON for each step on stdin");
  verb.add_repeated_call(
      "--set", [settings](const std::string& text) { settings->add_assignment(text, "--set"); },
      "set any key of the game, and env.num_hypotheses: --set env.rules=leaderboard (may be "
      "repeated)");
  return {&verb, [settings] { return answer_lines(*settings); }};
}

}  // namespace penstock::cage2
