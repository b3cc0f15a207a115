#include <fmt/format.h>
#include <sys/utsname.h>
#include <torch/version.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/progress_bar.h"
#include "cli/stop_signal.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "penstock/base/memory.h"
#include "penstock/base/thread_pool.h"
#include "penstock/fused/isa.h"
#include "penstock/store/run_dir.h"
#include "penstock/train/trainer.h"

namespace penstock::cli {
namespace {

using Json = nlohmann::json;

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string command_line() {
  std::string out;
  if (std::FILE* file = std::fopen("/proc/self/cmdline", "rb")) {
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
      out += c == 0 ? ' ' : static_cast<char>(c);
    }
    std::fclose(file);
  }
  if (!out.empty()) { out.pop_back(); }
  return out;
}

/// Results are the same bits on the same instruction set: a run keeps its own where it can.
void keep_isa(const RunDir& dir, Settings& settings, ProgressBar& bar) {
  const Json recorded = Json::parse(dir.read("manifest.json"), nullptr, false);
  const std::string isa = recorded.is_object() ? recorded.value("isa", "auto") : "auto";
  const std::vector<std::string> there = fused::supported_isas();
  if (isa != "auto" && std::find(there.begin(), there.end(), isa) == there.end()) {
    bar.note(
        fmt::format("warning: the run began on {}, which this machine lacks: it goes on with "
                    "{}, and its last bits will differ",
                    isa, there.front()));
    return;
  }
  settings.add("isa", isa, "manifest.json");
}

std::string manifest(const Plan& plan) {
  utsname machine{};
  uname(&machine);
  return Json{{"penstock", version()},
              {"git", git_hash()},
              {"created", utc_now()},
              {"seed", plan.config().seed},
              {"isa", fused::current_isa()},
              {"command", command_line()},
              {"machine",
               {{"host", machine.nodename},
                {"system", machine.sysname},
                {"release", machine.release},
                {"architecture", machine.machine},
                {"cores", available_cores()}}},
              {"dependencies", {{"torch", TORCH_VERSION}}}}
             .dump(2) +
         "\n";
}

Observer observer_for(ProgressBar& bar) {
  Observer observer;
  observer.progress = [&bar](const Progress& p) { bar.show(p); };
  observer.note = [&bar](const std::string& text) { bar.note(text); };
  observer.line = [&bar](const std::string& text) { bar.line(text); };
  return observer;
}

void print_summary(const Summary& summary, const RunDir& dir, bool json) {
  if (json) {
    fmt::print("{}\n", summary.line());
    return;
  }
  if (summary.preempted) {
    fmt::print("stopped at step {} and saved; continue with: penstock resume {}\n",
               summary.total_timesteps, dir.path());
    return;
  }
  fmt::print("trained {} steps in {} ({} steps/s), {} episodes\n", summary.total_timesteps,
             duration_text(summary.time_elapsed), count_text(summary.fps), summary.episodes);
  if (summary.incidents > 0) {
    fmt::print("survived {} failures of envs, which cost {} unfinished episodes\n",
               summary.incidents, summary.discarded);
  }
  if (summary.eval.episodes > 0) {
    fmt::print("evaluation: mean reward {:.2f} +/- {:.2f} over {} episodes\n",
               summary.eval.mean_reward, summary.eval.std_reward, summary.eval.episodes);
  }
  fmt::print("digest {}  run directory {}\n", summary.digest, dir.path());
}

Exit finish(Trainer& trainer, const RunDir& dir, bool json) {
  const Summary summary = trainer.run(stop_on_signal());
  print_summary(summary, dir, json);
  return summary.preempted ? Exit::preempted : Exit::ok;
}

Exit print_plan(const Plan& plan, bool json) {
  const RunConfig& config = plan.config();
  const std::int64_t per_update = config.samples_per_update();
  const std::int64_t updates = config.max_updates();
  const std::optional<Epochs> epochs = plan.epochs();
  const MemoryEstimate memory = plan.memory();
  if (json) {
    Json warnings = plan.warnings();
    Json out = {{"dry_run", true},
                {"memory_bytes", memory.total()},
                {"memory",
                 {{"rollout", memory.rollout},
                  {"weights", memory.weights},
                  {"optimiser", memory.optimiser},
                  {"batches", memory.batches}}},
                {"samples_per_update", per_update},
                {"updates", updates},
                {"run_dir", plan.run_dir()},
                {"warnings", warnings}};
    if (epochs) { out["epochs"] = {{"whole", epochs->whole}, {"remainder", epochs->remainder}}; }
    fmt::print("{}\n", out.dump());
    return Exit::ok;
  }
  const auto megabytes = [](std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; };
  fmt::print("{}\n# {} updates of {} samples, run directory {}\n", to_toml(plan.fields()), updates,
             per_update, plan.run_dir());
  if (epochs) {
    fmt::print("# {} episodes: {} epochs of {} and a remainder of {}\n", config.total_episodes,
               epochs->whole, config.env.num_envs, epochs->remainder);
  }
  fmt::print(
      "# memory: {:.1f} MB = rollout {:.1f}, weights {:.1f}, optimiser {:.1f}, batches {:.1f}\n",
      megabytes(memory.total()), megabytes(memory.rollout), megabytes(memory.weights),
      megabytes(memory.optimiser), megabytes(memory.batches));
  for (const std::string& warning : plan.warnings()) { fmt::print("# warning: {}\n", warning); }
  return Exit::ok;
}

Exit train(const Common& common, const CLI::App& verb, const Catalog& catalog) {
  Settings settings = common.settings();
  add_env_flags(verb, catalog, settings);
  const Plan plan(settings, catalog);
  device_of(plan.config().device);
  if (common.dry_run) { return print_plan(plan, common.json); }
  plan.require_memory(available_memory());
  ProgressBar bar;
  for (const std::string& warning : plan.warnings()) { bar.note("warning: " + warning); }
  RunDir dir(plan.run_dir(), RunDir::Open::fresh, static_cast<std::size_t>(plan.config().run.keep));
  Trainer trainer(plan, dir, observer_for(bar));  // before the files: it may refuse
  dir.write("config.toml", to_toml(plan.fields()));
  dir.write("manifest.json", manifest(plan));
  return finish(trainer, dir, common.json);
}

Exit resume(const std::string& path, const Common& common, const Catalog& catalog) {
  RunDir dir(path, RunDir::Open::resume);
  Settings settings;
  settings.add_toml(dir.read("config.toml"), "config.toml");
  ProgressBar bar;
  keep_isa(dir, settings, bar);
  const Settings given = common.settings();
  for (const Setting& s : given.all()) { settings.add(s.path, s.text, s.origin); }
  const Plan plan(settings, catalog);
  device_of(plan.config().device);
  plan.require_memory(available_memory());
  if (!given.all().empty()) { dir.write("config.toml", to_toml(plan.fields())); }
  Trainer trainer(plan, dir, observer_for(bar));
  trainer.resume();
  return finish(trainer, dir, common.json);
}

}  // namespace

Verb train_verb(CLI::App& app, const Catalog& catalog) {
  auto common = std::make_shared<Common>();
  CLI::App* verb = app.add_subcommand("train", "train a policy into a fresh run directory");
  add_config_options(*verb, *common);
  add_key(*verb, *common, "--episodes,--num-episodes", "total_episodes",
          "end after this many episodes");
  verb->add_flag("--json", common->json, "end with one line of JSON on stdout");
  verb->add_flag("--dry-run", common->dry_run,
                 "print the resolved config, epochs, memory and warnings only");
  verb->allow_extras();
  verb->footer(
      "Every key of the env is an option too: --max-steps 50 is --set env.max_steps=50, one that "
      "is "
      "true or false needs no value, and --async-embedding is --set env.embedding=async.");
  return {verb, [common, verb, &catalog] { return train(*common, *verb, catalog); }};
}

Verb resume_verb(CLI::App& app, const Catalog& catalog) {
  auto common = std::make_shared<Common>();
  auto path = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("resume", "continue a run from its newest whole checkpoint");
  verb->add_option("run_dir", *path, "the run directory")->required();
  add_key(*verb, *common, "--total-timesteps", "total_timesteps", "env steps to train for, in all");
  add_key(*verb, *common, "--threads", "threads",
          "threads, or auto: measured. Never changes results");
  add_worker_options(*verb, *common);
  add_key(*verb, *common, "--isa", "isa", "instruction set; without it, the run's own");
  add_key(*verb, *common, "--device", "device", "cpu, cuda or mps");
  add_key(*verb, *common, "--save-interval", "run.save_interval", "env steps between checkpoints");
  add_key(*verb, *common, "--log-interval", "run.log_interval", "updates between log lines");
  verb->add_flag("--json", common->json, "end with one line of JSON on stdout");
  return {verb, [common, path, &catalog] { return resume(*path, *common, catalog); }};
}

}  // namespace penstock::cli
