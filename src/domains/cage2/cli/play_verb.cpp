#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>

#include "domains/cage2/cli/blue.h"
#include "domains/cage2/cli/episode_page.h"
#include "domains/cage2/cli/files.h"
#include "domains/cage2/cli/game_log.h"
#include "domains/cage2/cli/scene.h"
#include "domains/cage2/cli/verbs.h"
#include "penstock/core/base/config.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/text.h"
#include "penstock/core/store/journal.h"

namespace penstock::cage2 {
namespace {

struct PlayArgs {
  BlueChoice blue;
  std::uint64_t seed = 0;
  std::int64_t episodes = 1;
  std::string svg;          // a folder, or nothing
  std::string html;         // a file, or nothing
  std::int64_t belief = 0;  // hypotheses about red; 0: nobody asks
  bool all_hosts = false;
  bool json = false;
  Settings settings;
};

/// What the policy was trained on, or the challenge as it stands, with the changes asked for.
Simulator::Config config_of(const PlayArgs& args, const BluePlayer& player) {
  constexpr std::int64_t kFewSteps = 30;
  Simulator::Config config = player.game;
  if (player.run == nullptr) { config.max_steps = kFewSteps; }
  std::vector<Field> fields = fields_of(config, "env.");
  penstock::apply(fields, args.settings);
  return config;
}

std::string title_of(const PlayArgs& args, const Simulator::Config& config, std::uint64_t seed) {
  const std::string order = args.blue.order.empty() ? "" : " by " + args.blue.order;
  return fmt::format("{}{} against {}, rules {}, wrapper {}, seed {}", args.blue.name, order,
                     config.red, config.rules, config.wrapper, seed);
}

/// What is played, and by whom.
struct Game {
  BluePlayer player;
  Simulator simulator;
  std::optional<BeliefFilter> filter;
  Judgement judgement = {};  // of the episode, where the player is_judged
};

void judge(Game& game, std::int64_t action) {
  const BluePlayer& player = game.player;
  if (!player.is_judged) { return; }
  game.judgement.judge(action, game.simulator.world().with_sessions(), order_of(player.keys.order),
                       player.rule_a);
}

/// One episode; `tell` is called before the first step and after each.
Scene play_episode(Game& game, Scene scene, std::uint64_t seed,
                   const std::function<void(const Scene&, const Decision&)>& tell) {
  std::array<float, kObsSize> row{};
  Simulator& simulator = game.simulator;
  Blue& blue = *game.player.blue;
  simulator.reset(seed, {row, {}});
  blue.reset(seed);
  if (game.filter) { game.filter->reset(); }
  game.judgement = {};
  tell(scene, {});
  while (scene.step < scene.num_steps) {
    ++scene.step;
    const Decision decision = blue.act(simulator.obs());
    scene.action = decision.action;
    judge(game, decision.action);
    scene.trace = simulator.advance(scene.action);
    scene.total_tenths += scene.trace.cost_tenths;
    blue.note(scene.action, scene.trace.blue_flag, simulator.obs());
    if (game.filter) { game.filter->note(scene.action, scene.trace.blue_flag, simulator.obs()); }
    tell(scene, decision);
  }
  return scene;
}

void draw(const PlayArgs& args, const Scene& scene) {
  if (args.svg.empty()) { return; }
  replace_text(fmt::format("{}/step-{:03}.svg", args.svg, scene.step), picture(scene));
}

/// Step by step where there is one episode, else a line for each.
void print_episode(const PlayArgs& args, const Scene& scene) {
  if (args.episodes == 1) {
    fmt::print("{}{}", scene.step == 0 ? "" : "\n",
               printable(scene.step == 0 ? scene.title + "\n" : story(scene, args.all_hosts)));
  } else if (scene.step == scene.num_steps) {
    fmt::print("{}: return {}\n", printable(scene.title), reward_text(scene.total_tenths));
  }
}

void print_judgement(const Game& game) {
  if (!game.player.is_judged) { return; }
  const Judgement& judgement = game.judgement;
  fmt::print("  {} fixes: {:.1f} % comply, {:.1f} % of those of lost hosts\n", judgement.all.fixes,
             100 * judgement.all.ratio(), 100 * judgement.lost.ratio());
}

void print_mean(const std::vector<int>& costs) {
  const double n = costs.size();
  const double sum = std::accumulate(costs.begin(), costs.end(), 0.0);
  fmt::print("mean of {} episodes: {:.2f}\n", costs.size(), -sum / n / 10);
}

std::optional<BeliefFilter> filter_for(const PlayArgs& args, const Simulator::Config& config) {
  if (args.belief == 0) { return {}; }
  if (!args.json && args.html.empty()) {
    throw UsageError("--belief: only JSON tells beliefs; add --json");
  }
  return BeliefFilter(config, static_cast<std::size_t>(args.belief));
}

Exit play(const PlayArgs& args, const Catalog& catalog) {
  BluePlayer player = make_blue(args.blue, catalog);
  const Simulator::Config config = config_of(args, player);
  Game game{std::move(player), Simulator(config), filter_for(args, config)};
  if (!args.svg.empty()) { make_folder(args.svg, "--svg"); }
  std::vector<int> costs;
  for (std::int64_t i = 0; i < args.episodes; ++i) {
    const std::uint64_t seed = args.seed + static_cast<std::uint64_t>(i);
    GameLog log(args.blue.name, config, seed);
    const Scene first{.num_steps = static_cast<int>(config.max_steps),
                      .title = title_of(args, config, seed),
                      .simulator = game.simulator,
                      .filter = game.filter ? &*game.filter : nullptr};
    const Scene last =
        play_episode(game, first, seed, [&](const Scene& scene, const Decision& decision) {
          if (i == 0) { draw(args, scene); }
          log.add(scene, decision);
          if (!args.json) { print_episode(args, scene); }
        });
    costs.push_back(last.total_tenths);
    if (game.player.is_judged) { log.judge(game.player.keys.order, game.judgement); }
    const std::string line = log.line();
    if (i == 0 && !args.html.empty()) { replace_text(args.html, episode_page(first.title, line)); }
    if (args.json) {
      fmt::print("{}\n", line);
    } else {
      print_judgement(game);
    }
  }
  if (!args.json && args.episodes > 1) { print_mean(costs); }
  return Exit::ok;
}

/// A flag that stands for a key of the env.
void add_key(Options& verb, PlayArgs& args, const std::string& flag, const std::string& path,
             const std::string& doc) {
  verb.add_call(
      flag, [&args, path, flag](const std::string& text) { args.settings.add(path, text, flag); },
      doc + " [" + path + "]");
}

void add_keys(Options& verb, PlayArgs& args) {
  add_key(verb, args, "--red", "env.red", "the attacker: bline, meander, sleep or mix");
  add_key(verb, args, "--steps", "env.max_steps", "steps to play (default 30; of a run: its own)");
  add_key(verb, args, "--rules", "env.rules", "rules of the game: head or leaderboard");
  add_key(verb, args, "--wrapper", "env.wrapper", "how events are shown: v1, v2 or dbg");
  verb.add_repeated_call(
      "--set", [&args](const std::string& text) { args.settings.add_assignment(text, "--set"); },
      "set any key of the env: --set env.green=true (may be repeated)");
}

}  // namespace

Verb play_verb(Options& app, const Catalog& catalog) {
  auto args = std::make_shared<PlayArgs>();
  Options& verb = app.add_command("play", "episodes, told step by step and host by host");
  add_blue_options(verb, args->blue);
  add_keys(verb, *args);
  verb.add("--seed", args->seed, "seed of the first episode; the next has the next (default 0)");
  verb.add("--episodes", args->episodes, "episodes to play; of several only the returns are told")
      .within(1, 1'000'000)
      .show_default();
  verb.add("--svg", args->svg,
           "folder for a picture of every step of the first episode: step-000.svg, ...");
  verb.add("--html", args->html, "one page of the first episode, with a slider over its steps");
  verb.add("--belief", args->belief,
           "tell what Blue can infer of red, with at most as many hypotheses (--json)")
      .within(1, 100'000);
  verb.add_flag("--all-hosts", args->all_hosts, "list hosts without news too");
  verb.add_flag("--json", args->json, "one line of JSON on stdout for each episode");
  return {&verb, [args, &catalog] { return play(*args, catalog); }};
}

}  // namespace penstock::cage2
