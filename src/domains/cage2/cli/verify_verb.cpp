#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iomanip>
#include <memory>
#include <sstream>
#include <vector>

#include "domains/cage2/cli/agent_folder.h"
#include "domains/cage2/cli/difference.h"
#include "domains/cage2/cli/verbs.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/program.h"
#include "penstock/core/base/random.h"
#include "penstock/core/base/student.h"
#include "penstock/core/store/temporary_folder.h"
#include "penstock/domains/cage2/sim/replay.h"
#include "penstock/domains/cage2/workflow/leaderboard.h"

namespace penstock::cage2 {
namespace {

namespace fs = std::filesystem;

struct VerifyArgs {
  BlueChoice run;
  std::string cyborg;
  std::string python = "python3";
  std::string rules = "auto";
  std::int64_t episodes = 100;
  std::int64_t native_episodes = 1000;
  std::uint64_t seed = 0;
  bool json = false;
};

/// The returns of one attacker's episodes after each of the board's lengths: the first steps of one
/// episode.
struct Returns {
  std::string red;
  std::array<std::vector<double>, kBoardLengths.size()> after;
};

// ---- The real program

struct RealGames {
  std::string version;  // of CybORG
  std::string rules;    // that it plays by, as far as can be seen
  std::vector<Returns> reds;
};

Returns& of_red(RealGames& games, const std::string& red) {
  if (games.reds.empty() || games.reds.back().red != red) { games.reds.push_back({red, {}}); }
  return games.reds.back();
}

/// A line of evaluate.py.
void read_line(const std::string& line, RealGames& games) {
  try {
    const Json json = parse_json(line);
    if (json.contains("cyborg")) {
      games.version = json.at("cyborg").get<std::string>();
      games.rules = json.at("rules").get<std::string>();
      return;
    }
    Returns& returns = of_red(games, json.at("red").get<std::string>());
    for (std::size_t i = 0; i < kBoardLengths.size(); ++i) {
      returns.after[i].push_back(json.at("returns").at(i).get<double>());
    }
  } catch (const Json::exception& error) {
    throw DataError(
        fmt::format("--cyborg: its games wrote '{}' where a line of JSON was expected: "
                    "{}; what prints there must not print to stdout",
                    line.substr(0, 80), error.what()));
  }
}

/// This program, as a shell's words.
std::string penstock_words() {
  std::ostringstream text;
  for (const std::string& word : own_program("cage2")) { text << std::quoted(word) << ' '; }
  return text.str();
}

RealGames play_really(const VerifyArgs& args, const std::string& agent) {
  RealGames games;
  const std::vector<std::string> words = {args.python,
                                          "-B",
                                          (fs::path(agent) / "evaluate.py").string(),
                                          "--cyborg",
                                          args.cyborg,
                                          "--episodes",
                                          std::to_string(args.episodes),
                                          "--seed",
                                          std::to_string(args.seed),
                                          "--penstock",
                                          penstock_words()};
  const int code =
      run_program(words, "--python", [&](const std::string& line) { read_line(line, games); });
  const auto whole = [&](const Returns& returns) {
    return std::ssize(returns.after.back()) == args.episodes;
  };
  if (code != 0 || games.reds.size() != kBoardReds.size() ||
      !std::ranges::all_of(games.reds, whole)) {
    throw DataError(fmt::format(
        "--cyborg {}: the games ended with exit code {} before all were played; what went wrong "
        "stands above",
        args.cyborg, code));
  }
  return games;
}

// ---- Ours

Simulator::Config native_game(const BluePlayer& player, const std::string& rules,
                              const std::string& red) {
  Simulator::Config game = config_of(source_of(rules));
  game.red = red;
  game.max_steps = kBoardLengths.back();
  game.wrapper = player.game.wrapper;
  return game;
}

Returns play_natively(const VerifyArgs& args, BluePlayer& player, const std::string& rules,
                      std::size_t red) {
  Returns returns{kBoardReds[red], {}};
  Simulator simulator(native_game(player, rules, returns.red));
  const RandomKey key{
      .seed = args.seed, .owner = static_cast<std::uint32_t>(red), .stream = Stream::evaluate};
  Random seeds(key);
  std::array<float, kObsSize> row{};
  for (std::int64_t i = 0; i < args.native_episodes; ++i) {
    const std::uint64_t seed = seeds.next64();
    simulator.reset(seed, {row, {}});
    player.blue->reset(seed);
    int cost = 0;
    for (int step = 1; step <= kBoardLengths.back(); ++step) {
      const std::int64_t action = player.blue->act(simulator.obs()).action;
      const Simulator::Trace trace = simulator.advance(action);
      player.blue->note(action, trace.blue_flag, simulator.obs());
      cost += trace.cost_tenths;
      const auto* length = std::ranges::find(kBoardLengths, step);
      if (length != kBoardLengths.end()) {
        returns.after[length - kBoardLengths.begin()].push_back(-cost / 10.0);
      }
    }
  }
  return returns;
}

// ---- Beside each other

struct VerifiedCell {
  std::string red;
  int steps = 0;
  Estimate native;
  Estimate real;
  Difference difference;
};

struct Verdict {
  std::vector<VerifiedCell> cells;
  double lowest_p = 1;  // times the number of cells: Bonferroni's
  [[nodiscard]] bool differs() const { return lowest_p < kLevel; }
  static constexpr double kLevel = 0.01;
};

Verdict hold_against(const std::vector<Returns>& native, const RealGames& real) {
  Verdict verdict;
  for (const Returns& theirs : real.reds) {
    const auto ours = std::ranges::find(native, theirs.red, &Returns::red);
    for (std::size_t i = 0; i < kBoardLengths.size(); ++i) {
      verdict.cells.push_back({theirs.red, kBoardLengths[i], estimate(ours->after[i]),
                               estimate(theirs.after[i]),
                               difference(ours->after[i], theirs.after[i])});
      verdict.lowest_p = std::min(verdict.lowest_p, verdict.cells.back().difference.p);
    }
  }
  verdict.lowest_p = std::min(1.0, verdict.lowest_p * static_cast<double>(verdict.cells.size()));
  return verdict;
}

void print_verified_json(const VerifyArgs& args, const RealGames& real, const std::string& rules,
                         const BluePlayer& player, const Verdict& verdict) {
  OrderedJson cells = OrderedJson::array();
  for (const VerifiedCell& cell : verdict.cells) {
    cells.push_back({{"red", cell.red},
                     {"steps", cell.steps},
                     {"native", cell.native.mean},
                     {"native_std_error", cell.native.std_error},
                     {"real", cell.real.mean},
                     {"real_std_error", cell.real.std_error},
                     {"difference", cell.difference.mean},
                     {"ci95_low", cell.difference.low},
                     {"ci95_high", cell.difference.high},
                     {"ci99", {cell.difference.low_99, cell.difference.high_99}},
                     {"p", cell.difference.p}});
  }
  fmt::print("{}\n", to_text(OrderedJson{{"cyborg", real.version},
                                         {"rules", rules},
                                         {"wrapper", player.game.wrapper},
                                         {"trained_steps", player.run->timesteps},
                                         {"sampled", args.run.sampled},
                                         {"episodes", args.episodes},
                                         {"native_episodes", args.native_episodes},
                                         {"seed", args.seed},
                                         {"cells", cells},
                                         {"corrected_p", verdict.lowest_p},
                                         {"differs", verdict.differs()}}));
}

void print_verified(const VerifyArgs& args, const RealGames& real, const std::string& rules,
                    const BluePlayer& player, const Verdict& verdict) {
  fmt::print(
      "{} after {} steps, {}; rules {}, wrapper {}; CybORG {}, {} episodes, beside {} here\n\n",
      args.run.name, player.run->timesteps, args.run.sampled ? "sampled" : "greedy", rules,
      player.game.wrapper, real.version, args.episodes, args.native_episodes);
  fmt::print("{:8} {:>5}  {:>17}  {:>17}  {:>28}  {:>6}\n", "red", "steps", "native", "CybORG",
             "difference (95 %)", "p");
  for (const VerifiedCell& cell : verdict.cells) {
    fmt::print(
        "{:8} {:>5}  {:>9.2f} ± {:<5.2f}  {:>9.2f} ± {:<5.2f}  {:>8.2f} ({:>7.2f} to {:>6.2f})  "
        "{:>6.3f}\n",
        cell.red, cell.steps, cell.native.mean, cell.native.std_error, cell.real.mean,
        cell.real.std_error, cell.difference.mean, cell.difference.low, cell.difference.high,
        cell.difference.p);
  }
  fmt::print("\n{}: the smallest p, corrected for {} cells, is {:.3f}\n",
             verdict.differs() ? "THEY DIFFER" : "no difference is shown", verdict.cells.size(),
             verdict.lowest_p);
}

/// Fails when the returns differ.
Exit verify(const VerifyArgs& args, const Catalog& catalog) {
  if (!fs::is_directory(args.cyborg)) {
    throw UsageError(
        fmt::format("--cyborg {}: not a folder; clone "
                    "https://github.com/cage-challenge/cage-challenge-2 and name it",
                    args.cyborg));
  }
  BluePlayer player = trained_blue(args.run, catalog);
  const TemporaryFolder folder;
  write_agent(player, args.run.sampled, folder.path());
  const RealGames real = play_really(args, folder.path());
  const std::string rules = args.rules == "auto" ? real.rules : args.rules;
  std::vector<Returns> native;
  for (std::size_t red = 0; red < kBoardReds.size(); ++red) {
    native.push_back(play_natively(args, player, rules, red));
  }
  const Verdict verdict = hold_against(native, real);
  if (args.json) {
    print_verified_json(args, real, rules, player, verdict);
  } else {
    print_verified(args, real, rules, player, verdict);
  }
  return verdict.differs() ? Exit::failed : Exit::ok;
}

}  // namespace

Verb verify_verb(Options& app, const Catalog& catalog) {
  auto args = std::make_shared<VerifyArgs>();
  Options& verb = app.add_command(
      "verify", "play a trained policy in a clone of CybORG and compare its returns with ours");
  add_run_options(verb, args->run);
  verb.add("--cyborg", args->cyborg, "a clone of cage-challenge-2; its code is run").required();
  verb.add("--python", args->python, "a Python that has the clone's requirements").show_default();
  verb.add("--episodes", args->episodes, "episodes there, of each attacker; 100 steps each")
      .within(2, 1'000'000)
      .show_default();
  verb.add("--native-episodes", args->native_episodes, "episodes here, of each attacker")
      .within(2, 1'000'000)
      .show_default();
  verb.add("--rules", args->rules,
           "rules to play by here: auto (those of the clone), head, leaderboard, or dbg for "
           "CybORG++")
      .one_of({"auto", "head", "leaderboard", "dbg"})
      .show_default();
  verb.add("--seed", args->seed, "seed of the episodes (default 0)");
  verb.add_flag("--json", args->json, "one line of JSON on stdout");
  return {&verb, [args, &catalog] { return verify(*args, catalog); }};
}

}  // namespace penstock::cage2
