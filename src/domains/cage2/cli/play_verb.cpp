#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "domains/cage2/cli/scene.h"
#include "domains/cage2/cli/verbs.h"
#include "penstock/core/base/config.h"
#include "penstock/core/base/json_value.h"
#include "penstock/domains/cage2/sim/scripts.h"

namespace penstock::cage2 {
namespace {

namespace fs = std::filesystem;

struct PlayArgs {
  std::string blue = "react";
  std::uint64_t seed = 0;
  std::string svg;  // a folder, or nothing
  bool all_hosts = false;
  bool json = false;
  Settings settings;
};

Simulator::Config config_of(const PlayArgs& args) {
  Simulator::Config config;
  config.max_steps = 30;
  std::vector<Field> fields = fields_of(config, "env.");
  penstock::apply(fields, args.settings);
  return config;
}

std::string title_of(const PlayArgs& args, const Simulator::Config& config) {
  return fmt::format("{} against {}, rules {}, wrapper {}, seed {}", args.blue, config.red,
                     config.rules, config.wrapper, args.seed);
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) { throw IoError(path.string() + ": cannot be written", Exit::cannot_create); }
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    throw IoError(fmt::format("--svg {}: {}; choose another folder", path, error.message()),
                  Exit::cannot_create);
  }
}

void draw(const PlayArgs& args, const Scene& scene) {
  if (args.svg.empty()) { return; }
  write_file(fs::path(args.svg) / fmt::format("step-{:03}.svg", scene.step), picture(scene));
}

OrderedJson step_json(const Scene& scene) {
  return {{"step", scene.step},
          {"blue", action_name(scene.action)},
          {"action", scene.action},
          {"red", move_name(scene.trace.red)},
          {"reward", -scene.trace.cost_tenths / 10.0},
          {"service_up", scene.simulator.world().service_up()}};
}

OrderedJson whole_json(const PlayArgs& args, const Simulator::Config& config, const Scene& last,
                       const OrderedJson& steps) {
  return {{"blue", args.blue},
          {"red", config.red},
          {"rules", config.rules},
          {"wrapper", config.wrapper},
          {"seed", args.seed},
          {"steps", last.num_steps},
          {"return", -last.total_tenths / 10.0},
          {"episode", steps}};
}

Exit play(const PlayArgs& args) {
  const Simulator::Config config = config_of(args);
  ScriptedBlue blue(script_of(args.blue));
  Simulator simulator(config);
  std::array<float, kObsSize> row{};
  simulator.reset(args.seed, {row, {}});
  blue.reset(args.seed);
  if (!args.svg.empty()) { make_folder(args.svg); }

  Scene scene{.num_steps = static_cast<int>(config.max_steps),
              .title = title_of(args, config),
              .simulator = simulator};
  OrderedJson steps = OrderedJson::array();
  if (!args.json) { fmt::print("{}\n", scene.title); }
  draw(args, scene);
  while (scene.step < scene.num_steps) {
    ++scene.step;
    scene.action = blue.act(simulator.obs());
    scene.trace = simulator.advance(scene.action);
    scene.total_tenths += scene.trace.cost_tenths;
    draw(args, scene);
    if (args.json) {
      steps.push_back(step_json(scene));
    } else {
      fmt::print("\n{}", story(scene, args.all_hosts));
    }
  }
  if (args.json) { fmt::print("{}\n", to_text(whole_json(args, config, scene, steps))); }
  return Exit::ok;
}

/// A flag that stands for a key of the env.
void add_key(Options& verb, PlayArgs& args, const std::string& flag, const std::string& path,
             const std::string& doc) {
  verb.add_call(
      flag, [&args, path, flag](const std::string& text) { args.settings.add(path, text, flag); },
      doc + " [" + path + "]");
}

}  // namespace

Verb play_verb(Options& app) {
  auto args = std::make_shared<PlayArgs>();
  Options& verb = app.add_command("play", "one episode, told step by step and host by host");
  verb.add("--blue", args->blue, "the defender: sleep, random, react or decoy_first")
      .show_default();
  add_key(verb, *args, "--red", "env.red", "the attacker: bline, meander, sleep or mix");
  add_key(verb, *args, "--steps", "env.max_steps", "steps to play (default 30)");
  add_key(verb, *args, "--rules", "env.rules", "rules of the game: head or leaderboard");
  add_key(verb, *args, "--wrapper", "env.wrapper", "how events are shown: v1, v2 or dbg");
  verb.add_repeated_call(
      "--set", [args](const std::string& text) { args->settings.add_assignment(text, "--set"); },
      "set any key of the env: --set env.green=true (may be repeated)");
  verb.add("--seed", args->seed, "seed of the episode (default 0)");
  verb.add("--svg", args->svg, "folder for a picture of every step: step-000.svg, ...");
  verb.add_flag("--all-hosts", args->all_hosts, "list hosts without news too");
  verb.add_flag("--json", args->json, "one line of JSON on stdout");
  return {&verb, [args] { return play(*args); }};
}

}  // namespace penstock::cage2
