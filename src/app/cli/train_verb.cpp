#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>

#include "app/cli/progress_bar.h"
#include "app/cli/stop_signal.h"
#include "app/cli/verbs.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/text.h"
#include "penstock/core/ranks/join.h"
#include "penstock/core/train/engine.h"
#include "penstock/core/train/run.h"

namespace penstock::cli {
namespace {

RunListener listener_for(ProgressBar& bar) {
  RunListener listener;
  listener.progress = [&bar](const Progress& p) { bar.show(p); };
  listener.note = [&bar](const std::string& text) { bar.note(text); };
  listener.line = [&bar](const std::string& text) { bar.line(text); };
  return listener;
}

void print_summary(const Summary& summary, const std::string& dir, bool json) {
  if (json) {
    fmt::print("{}\n", summary.line());
    return;
  }
  if (summary.preempted) {
    fmt::print("stopped at step {} and saved; continue with: penstock resume {}\n",
               summary.total_timesteps, dir);
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
  fmt::print("digest {}  run directory {}\n", summary.digest, dir);
}

/// How a run of several processes is joined.
struct Joining {
  bool insecure_network = false;
  double timeout_s = Launch().timeout_s;
};

void add_joining_options(Options& verb, Joining& joining) {
  verb.add_flag("--insecure-network", joining.insecure_network,
                "of several processes: they may meet beyond this machine, without keys or "
                "encryption");
  verb.add("--peer-timeout", joining.timeout_s,
           "of several processes: seconds to wait for one that does not answer");
}

/// The processes of this run, met; alone() where there is one.
class Company {
 public:
  explicit Company(const Joining& joining) {
    Launch launch = read_launch();
    if (launch.size == 1) { return; }
    launch.timeout_s = joining.timeout_s;
    joined_ = join(launch, joining.insecure_network ? Reach::any_network : Reach::this_machine);
  }
  [[nodiscard]] Peers& peers() { return joined_ ? *joined_ : alone(); }

 private:
  std::unique_ptr<Peers> joined_;
};

/// `open` makes the run. A signal counts from before its first checkpoint on: whoever sees that
/// file may stop the run and finds it saved.
Exit finish(const std::function<std::unique_ptr<Run>()>& open, Peers& peers, bool json) {
  const std::atomic<bool>& stop = stop_on_signal();
  Exit how = Exit::failed;
  try {
    const auto run = open();
    const Summary summary = run->run(stop);
    print_summary(summary, run->dir(), json);
    how = summary.preempted ? Exit::preempted : Exit::ok;
  } catch (const Error& error) {
    dismiss_followers(peers, error.exit());
    throw;
  }
  dismiss_followers(peers, how);
  return how;
}

Exit print_plan(const RunPlan& plan, bool json) {
  const RunConfig& config = plan.config();
  const std::int64_t per_update = plan.samples_per_update();
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
                {"updates", plan.max_updates()},
                {"updates_known", plan.knows_updates()},
                {"num_envs", config.env.num_envs},
                {"run_dir", plan.run_dir()},
                {"warnings", warnings}};
    if (epochs) { out["epochs"] = {{"whole", epochs->whole}, {"remainder", epochs->remainder}}; }
    if (plan.algorithm().leaves_lag_open()) { out["measured_first"] = {"async.max_lag"}; }
    fmt::print("{}\n", to_text(out));
    return Exit::ok;
  }
  const auto megabytes = [](std::int64_t bytes) { return bytes / 1e6; };
  fmt::print("{}\n# {}, {} samples each, run directory {}\n", to_toml(plan.fields()),
             plan.updates_text(), per_update, plan.run_dir());
  if (epochs) {
    fmt::print("# {} episodes: {} epochs of {} and a remainder of {}\n", config.total_episodes,
               epochs->whole, config.env.num_envs, epochs->remainder);
  }
  fmt::print(
      "# memory: {:.1f} MB = rollout {:.1f}, weights {:.1f}, optimiser {:.1f}, batches {:.1f}\n",
      megabytes(memory.total()), megabytes(memory.rollout), megabytes(memory.weights),
      megabytes(memory.optimiser), megabytes(memory.batches));
  if (plan.algorithm().leaves_lag_open()) {
    fmt::print("# async.max_lag is measured when the run begins, and written to its config.toml\n");
  }
  for (const std::string& warning : plan.warnings()) {
    fmt::print("# warning: {}\n", printable(warning));
  }
  return Exit::ok;
}

Exit train(const Common& common, const Joining& joining, const Options& verb,
           const Catalog& catalog) {
  Settings settings = common.settings();
  add_env_flags(verb, catalog, settings);
  auto plan = std::make_shared<RunPlan>(settings, catalog);
  if (common.dry_run) {
    device_of(plan->config().device);
    return print_plan(*plan, common.json);
  }
  Company company(joining);
  Peers& peers = company.peers();
  if (!peers.alone()) {
    plan = std::make_shared<RunPlan>(agree_on_settings(peers, &settings, catalog), catalog);
    if (peers.rank() > 0) { return follow_run(*plan, peers, stop_on_signal()); }
  }
  ProgressBar bar;
  for (const std::string& warning : plan->warnings()) { bar.note("warning: " + warning); }
  return finish([&] { return Run::fresh(plan, {.listener = listener_for(bar), .peers = &peers}); },
                peers, common.json);
}

Exit resume(const std::string& path, const Common& common, const Joining& joining,
            const Catalog& catalog) {
  Company company(joining);
  Peers& peers = company.peers();
  if (peers.rank() > 0) {
    const RunPlan plan(agree_on_settings(peers, nullptr, catalog), catalog);
    return follow_run(plan, peers, stop_on_signal());
  }
  ProgressBar bar;
  Settings settings =
      recorded_settings(path, common.trust, [&bar](const std::string& text) { bar.note(text); });
  const Settings given = common.settings();
  for (const Setting& s : given.all()) { settings.add(s.path, s.text, s.origin); }
  const auto plan =
      std::make_shared<RunPlan>(agree_on_settings(peers, &settings, catalog), catalog);
  return finish(
      [&] { return Run::resume(path, plan, {.listener = listener_for(bar), .peers = &peers}); },
      peers, common.json);
}

}  // namespace

Verb train_verb(Options& app, const Catalog& catalog) {
  auto common = std::make_shared<Common>();
  Options& verb = app.add_command("train", "train a policy into a fresh run directory");
  auto joining = std::make_shared<Joining>();
  add_config_options(verb, *common);
  add_key(verb, *common, "--episodes,--num-episodes", "total_episodes",
          "end after this many episodes");
  add_duration(verb, *common);
  add_key(verb, *common, "--start-from", "run.start_from",
          "a run directory whose policy to begin with; envs and other keys may differ");
  verb.add_flag("--json", common->json, "end with one line of JSON on stdout");
  verb.add_flag("--dry-run", common->dry_run,
                "print the resolved config, epochs, memory and warnings only");
  add_joining_options(verb, *joining);
  verb.allow_extras();
  verb.set_footer(
      "Every key of the env is an option too: --max-steps 50 is --set env.max_steps=50. A key that "
      "is true or false needs no value; --async-embedding is --set env.embedding=async.");
  return {&verb,
          [common, joining, &verb, &catalog] { return train(*common, *joining, verb, catalog); }};
}

Verb resume_verb(Options& app, const Catalog& catalog) {
  auto common = std::make_shared<Common>();
  auto joining = std::make_shared<Joining>();
  auto path = std::make_shared<std::string>();
  Options& verb = app.add_command("resume", "continue a run from its newest whole checkpoint");
  verb.add("run_dir", *path, "the run directory").required();
  add_key(verb, *common, "--total-timesteps", "total_timesteps",
          "env steps to train for, those before included");
  add_duration(verb, *common);
  add_key(verb, *common, "--threads", "threads",
          "threads, or auto: measured. Never changes results");
  add_worker_options(verb, *common);
  add_key(verb, *common, "--isa", "isa", "instruction set; without it, the run's own");
  add_key(verb, *common, "--device", "device", "where the network runs: cpu, cuda or mps");
  add_key(verb, *common, "--save-interval", "run.save_interval",
          "env steps, or updates where run.save_unit says so, between checkpoints");
  add_key(verb, *common, "--log-interval", "run.log_interval", "updates between log lines");
  add_trust_options(verb, *common);
  verb.add_flag("--json", common->json, "end with one line of JSON on stdout");
  add_joining_options(verb, *joining);
  return {&verb,
          [common, joining, path, &catalog] { return resume(*path, *common, *joining, catalog); }};
}

}  // namespace penstock::cli
