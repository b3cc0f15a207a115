#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/verbs.h"
#include "penstock/train/config.h"

namespace penstock::cli {
namespace {

using Json = nlohmann::json;

Json read_replay(const std::string& path) {
  std::ifstream file(path);
  if (!file) { throw IoError(fmt::format("{}: cannot be read", path)); }
  Json replay = Json::parse(file, nullptr, false);
  if (!replay.is_object() || replay.value("penstock_replay", 0) != 1) {
    throw DataError(fmt::format("{}: not a replay of an env's failure", path));
  }
  if (!replay.value("complete", false)) {
    throw DataError(fmt::format("{}: the episode was too long to keep all of its actions", path));
  }
  return replay;
}

/// One env, stepped with given actions.
class Player {
 public:
  explicit Player(VecEnv& envs)
      : envs_(envs),
        obs_(envs.spec().obs.size()),
        final_obs_(obs_.size()),
        legal_(std::make_unique<bool[]>(envs.spec().action.num_actions())) {}

  void reset() { envs_.reset({0, 1}, rows()); }

  /// Whether the episode goes on.
  bool step(const Json& action) {
    std::vector<std::int64_t> choices;
    std::vector<float> points;
    if (envs_.spec().action.continuous()) {
      points = action.get<std::vector<float>>();
    } else {
      choices = action.get<std::vector<std::int64_t>>();
    }
    if (points.size() + choices.size() != envs_.spec().action.dims()) {
      throw DataError("the replay's actions are not those of this env");
    }
    EpisodeEnd end;
    float reward = 0;
    bool terminated = false;
    bool truncated = false;
    envs_.step({0, 1}, {.choices = choices, .points = points}, rows(),
               {.reward = {&reward, 1},
                .terminated = {&terminated, 1},
                .truncated = {&truncated, 1},
                .final_obs = final_obs_,
                .episode = {&end, 1}});
    return !terminated && !truncated;
  }

 private:
  ObsRows rows() {
    const ActionSpec& action = envs_.spec().action;
    return {obs_, {legal_.get(), action.masked() ? action.num_actions() : 0}};
  }

  VecEnv& envs_;
  std::vector<float> obs_;
  std::vector<float> final_obs_;
  std::unique_ptr<bool[]> legal_;  // NOLINT(modernize-avoid-c-arrays): vector<bool> has no span
};

Exit tell(bool failed, const std::string& message, std::size_t steps, bool json) {
  if (json) {
    fmt::print("{}\n", Json{{"reproduced", failed}, {"steps", steps}, {"message", message}}.dump());
  } else if (failed) {
    fmt::print("reproduced after {} actions: {}\n", steps, message);
  } else {
    fmt::print(
        "not reproduced: the env took all {} actions; it was killed from outside, or depends on "
        "more than its seed and actions\n",
        steps);
  }
  return failed ? Exit::ok : Exit::failed;
}

Exit replay(const std::string& path, const Common& common, const Catalog& catalog) {
  const Json recorded = read_replay(path);
  Settings settings = common.flags;
  settings.add("env.id", recorded.at("env"), path);
  settings.add("env.kwargs", recorded.at("kwargs").dump(), path);
  settings.add("env.num_workers", "1", path);
  settings.add("env.max_restarts", "1000000", path);
  const Plan plan(settings, catalog);
  const std::unique_ptr<VecEnv> envs = plan.env().make(1, 0);
  envs->seed(0, recorded.at("seed"));
  Player player(*envs);
  player.reset();
  std::size_t steps = 0;
  std::vector<Incident> incidents = envs->take_incidents();
  for (const Json& action : recorded.at("actions")) {
    if (!incidents.empty()) { break; }
    ++steps;
    const bool goes_on = player.step(action);
    incidents = envs->take_incidents();
    if (!goes_on) { break; }
  }
  const bool failed = !incidents.empty();
  return tell(failed, failed ? incidents.front().message : "", steps, common.json);
}

}  // namespace

Verb replay_verb(CLI::App& app, const Catalog& catalog) {
  auto common = std::make_shared<Common>();
  auto path = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("replay", "take the actions again that made an env fail");
  verb->add_option("file", *path, "a file of a run's replay folder")->required();
  add_key(*verb, *common, "--python", "env.python", "the interpreter that has the env");
  add_key(*verb, *common, "--step-deadline", "env.step_deadline_s",
          "a step that takes longer hangs");
  verb->add_flag("--json", common->json, "one line of JSON on stdout");
  return {verb, [common, path, &catalog] { return replay(*path, *common, catalog); }};
}

}  // namespace penstock::cli
