#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "app/cli/verbs.h"
#include "penstock/core/base/note.h"
#include "penstock/core/train/config.h"

namespace penstock::cli {
namespace {

namespace fs = std::filesystem;

/// Names with our prefix that are not config keys.
constexpr std::string_view kReserved[] = {"PENSTOCK_RECIPES=", "PENSTOCK_MODELS=",
                                          "PENSTOCK_COMPARE=", "PENSTOCK_EXE=", "PENSTOCK_TEST_"};

std::vector<const char*> environment() {
  std::vector<const char*> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const bool reserved =
        std::any_of(std::begin(kReserved), std::end(kReserved),
                    [&](std::string_view name) { return text.starts_with(name); });
    if (!reserved) { entries.push_back(*entry); }
  }
  return entries;
}

fs::path recipe_dir() {
  if (const char* given = std::getenv("PENSTOCK_RECIPES")) { return given; }
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  // An install tree, a build tree inside the source tree, or the current directory.
  for (const fs::path& dir : {program / "../share/penstock/recipes", program / "../../recipes",
                              program / "../recipes", fs::path("recipes")}) {
    if (fs::is_directory(dir, ignored)) { return dir; }
  }
  return "recipes";
}

}  // namespace

void become(std::vector<std::string> words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) { arguments.push_back(word.data()); }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
}

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(recipe_dir(), ignored)) {
    if (entry.path().extension() == ".toml") { names.push_back(entry.path().stem()); }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string recipe_path(const std::string& name) {
  const std::vector<std::string> names = recipe_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw UsageError(fmt::format("--recipe {}: not one of {}{}", name, fmt::join(names, ", "),
                                 did_you_mean(name, names)));
  }
  return recipe_dir() / (name + ".toml");
}

Settings Common::settings() const {
  Settings all;
  if (!recipe.empty()) { all.add_toml_file(recipe_path(recipe)); }
  if (!config_file.empty()) { all.add_toml_file(config_file); }
  all.add_environment(environment());
  for (const std::string& assignment : assignments) { all.add_assignment(assignment, "--set"); }
  for (const Setting& flag : flags.all()) { all.add(flag.path, flag.text, flag.origin); }
  return all;
}

void add_key(Options& app, Common& common, const std::string& names, const std::string& path,
             const std::string& doc) {
  const std::string first = names.substr(0, names.find(','));
  app.add_call(
      names,
      [&common, path, first](const std::string& text) { common.flags.add(path, text, first); },
      doc + " [" + path + "]");
}

void add_trust_options(Options& app, Common& common) {
  app.add_flag("--trust", common.trust.anyway,
               "run the code of the env that it names, though somebody else made it");
  app.add("--env", common.trust.env_id, "the env that it names, said again: trusts that one alone");
  add_key(app, common, "--python", "env.python", "the interpreter that has the env");
}

TrainedRun open_chosen(const std::string& dir, const std::string& checkpoint, const Common& common,
                       const Catalog& catalog) {
  return open_run(
      {.dir = dir, .checkpoint = checkpoint, .changes = common.flags, .trust = common.trust},
      catalog, print_note);
}

void add_duration(Options& app, Common& common) {
  app.add_call(
      "--duration",
      [&common](const std::string& text) {
        common.flags.add("total_seconds", fmt::format("{}", seconds_of(text)), "--duration");
      },
      "time to train for, as 90s, 5m or 0.5h, all sittings together [total_seconds]");
}

double seconds_of(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  if (error == std::errc() && number > 0) {
    if (unit == "s") { return number; }
    if (unit == "m") { return number * 60; }
    if (unit == "h") { return number * 3600; }
  }
  const bool bare = error == std::errc() && unit.empty();
  throw UsageError(fmt::format("--duration {}: expected a time with its unit, as in {}", text,
                               bare ? fmt::format("{0}s, {0}m or {0}h", text) : "90s, 5m or 0.5h"));
}

void add_worker_options(Options& app, Common& common) {
  add_key(app, common, "--num-workers", kWorkersKey,
          "worker processes of a Python env, threads of a native one, or auto: measured. Never "
          "changes results");
  add_key(app, common, "--num-envs-per-worker", "env.envs_per_worker",
          "envs of each worker process: with --num-workers W it means W times as many envs");
  add_key(app, common, "--parallel-start-method", "env.start_method",
          "how worker processes start: auto, forkserver, spawn or fork");
}

void add_config_options(Options& app, Common& common) {
  const Option file = app.add("--config", common.config_file, "a TOML file to start from");
  app.add("--recipe", common.recipe,
          "a recipe to start from; `penstock config --recipes` lists them")
      .excludes(file);
  app.add_repeated("--set", common.assignments,
                   "set any key: --set ppo.clip=0.1 (may be repeated)");
  add_key(
      app, common, "--env", "env.id",
      "a native env (`penstock envs` lists them) or a Gymnasium id: CartPole-v1, my_pkg:MyEnv-v0");
  add_key(app, common, "--num-envs,--n-envs", "env.num_envs", "envs stepped side by side");
  add_key(app, common, "--total-timesteps", "total_timesteps", "env steps to train for");
  add_key(app, common, "--seed", "seed", "seed of everything random");
  add_key(app, common, "--threads", "threads", "threads, or auto: measured. Never changes results");
  add_worker_options(app, common);
  add_key(app, common, "--algo", "algo", "which algorithm: ppo, a2c, appo or impala");
  add_key(app, common, "--learner", "learner", "how gradients are computed: auto, eager or fused");
  add_key(app, common, "--isa", "isa",
          "instruction set of the fused kernels: auto, avx512, avx2, ...");
  add_key(app, common, "--device", "device", "where the network runs: cpu, cuda or mps");
  add_key(app, common, "--learning-rate", kLearningRateKey, "Adam's step size");
  add_key(app, common, "--batch-size", kMinibatchKey, "samples per gradient step");
  add_key(app, common, "--policy-update-interval", "ppo.update_interval",
          "rollouts gathered per update");
  add_key(app, common, "--run-dir,--output-dir,--checkpoint-dir,--save-dir", "run.dir",
          "directory of the run");
  add_key(app, common, "--save-interval", "run.save_interval",
          "env steps, or updates where run.save_unit says so, between checkpoints");
  add_key(app, common, "--log-interval", "run.log_interval", "updates between log lines");
}

}  // namespace penstock::cli
