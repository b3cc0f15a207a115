#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "app/cli/replay_file.h"
#include "app/cli/verbs.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/text.h"
#include "penstock/core/base/text_file.h"
#include "penstock/core/train/config.h"

namespace penstock::cli {
namespace {

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
    if (!is_action_of(action, envs_.spec().action)) {
      throw DataError(
          fmt::format("the replay's action {} is not one of this env", to_text(action)));
    }
    std::vector<std::int64_t> choices;
    std::vector<float> points;
    if (envs_.spec().action.continuous()) {
      points = action.get<std::vector<float>>();
    } else {
      choices = action.get<std::vector<std::int64_t>>();
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
    fmt::print("{}\n",
               to_text(Json{{"reproduced", failed}, {"steps", steps}, {"message", message}}));
  } else if (failed) {
    fmt::print("reproduced after {} actions: {}\n", steps, printable(message));
  } else {
    fmt::print(
        "not reproduced: the env took all {} actions; it was killed from outside, or depends on "
        "more than its seed and actions\n",
        steps);
  }
  return failed ? Exit::ok : Exit::failed;
}

/// Replay files travel with bug reports: the code that one names runs by the user's word alone.
void require_word(const std::string& path, const std::string& id, const Trust& trust) {
  if (!trust.env_id.empty() && trust.env_id != id) {
    throw UsageError(fmt::format("--env {}: the replay's env is {}", trust.env_id, id));
  }
  if (id.find(':') == std::string::npos || trust.anyway || !trust.env_id.empty()) { return; }
  throw DataError(
      fmt::format("{}: it names the Python env {}, whose code would run. If you trust it, say "
                  "--trust or --env {}",
                  path, id, id));
}

Exit replay(const std::string& path, const Common& common, const Catalog& catalog) {
  const Json recorded = parse_replay(read_text(path), path);
  require_word(path, recorded.at("env"), common.trust);
  Settings settings = common.flags;
  settings.add("env.id", recorded.at("env"), path);
  settings.add("env.kwargs", to_text(recorded.at("kwargs")), path);
  if (common.trust.env_id.empty() && common.trust.anyway) {
    settings.add("env.only_classes", "true", "--trust");
  }
  settings.add("env.num_workers", "1", path);
  settings.add("env.max_restarts", "1000000", path);
  const RunPlan plan(settings, catalog);
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

Verb replay_verb(Options& app, const Catalog& catalog) {
  auto common = std::make_shared<Common>();
  auto path = std::make_shared<std::string>();
  Options& verb = app.add_command("replay", "take the actions again that made an env fail");
  verb.add("file", *path, "a file of the run's folder replay/").required();
  add_trust_options(verb, *common);
  add_key(verb, *common, "--step-deadline", "env.step_deadline_s",
          "seconds after which a step counts as hanging");
  verb.add_flag("--json", common->json, "one line of JSON on stdout");
  return {&verb, [common, path, &catalog] { return replay(*path, *common, catalog); }};
}

}  // namespace penstock::cli
