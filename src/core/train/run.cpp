#include "penstock/core/train/run.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <torch/version.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "core/train/choose_lag.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/limits.h"
#include "penstock/core/base/thread_pool.h"
#include "penstock/core/base/version_info.h"
#include "penstock/core/fused/isa.h"
#include "penstock/core/train/trained_run.h"
#include "penstock/core/train/trainer.h"

namespace penstock {
namespace {

/// Computes with one intra-op thread, as shards do; the caller's number is given back.
class OneTorchThread {
 public:
  OneTorchThread() : before_(at::get_num_threads()) { use_one_torch_thread(); }
  ~OneTorchThread() { at::set_num_threads(before_); }
  OneTorchThread(const OneTorchThread&) = delete;
  OneTorchThread& operator=(const OneTorchThread&) = delete;

 private:
  int before_;
};

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

std::string manifest(const RunPlan& plan, const std::map<std::string, std::string>& dependencies) {
  utsname machine{};
  uname(&machine);
  Json versions = dependencies;
  versions.emplace("torch", TORCH_VERSION);
  const Json document = {{"penstock", version()},
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
                         {"dependencies", versions}};
  return to_text(document, 2) + "\n";
}

/// What must hold before a directory is touched.
std::shared_ptr<const RunPlan> possible(std::shared_ptr<const RunPlan> plan) {
  device_of(plan->config().device);
  plan->require_room(Limits());
  return plan;
}

/// With the newest policy of the run in `path`; nothing where that is empty.
template <class Take>
void with_policy_of(const std::string& path, const Note& note, const Take& take) {
  if (path.empty()) { return; }
  RunDir from(path, RunDir::Open::read);
  try {
    take(chosen_checkpoint(from, "latest", CheckpointPart::policy, note));
  } catch (const DataError& error) {
    throw DataError(fmt::format("run.start_from = {}: {}", path, error.what()));
  }
}

}  // namespace

void take_policy(Engine& engine, const std::string& path, const Note& note) {
  with_policy_of(path, note, [&](const Checkpoint& from) { engine.start_from(from); });
}

Run::Run(std::shared_ptr<const RunPlan> plan, const std::string& dir, RunDir::Open mode,
         const RunOptions& options)
    : plan_(possible(std::move(plan))), dir_(dir, mode, plan_->config().run.keep) {
  // Once the directory is known to be this run's: what it measures for may begin.
  if (options.carrier == nullptr) {
    plan_ = mode == RunDir::Open::fresh
                ? detail::with_measured_lag(plan_, *options.peers, options.listener.note)
                : detail::with_recorded_lag(plan_, dir_);
  }
  trainer_ =
      std::make_unique<Trainer>(*plan_, dir_, options.listener, *options.peers, options.carrier);
}

Run::~Run() = default;

void Run::write_config() { dir_.write("config.toml", signed_config(to_toml(plan_->fields()))); }

void Run::save() { trainer_->save(); }

Engine& Run::engine() { return trainer_->engine(); }

std::shared_ptr<const PolicyModel> Run::model() const { return trainer_->engine().model(); }

std::unique_ptr<Run> Run::fresh(std::shared_ptr<const RunPlan> plan, const RunOptions& options) {
  const OneTorchThread one;
  const std::string dir = options.dir.empty() ? plan->run_dir() : options.dir;
  std::unique_ptr<Run> run(new Run(std::move(plan), dir, RunDir::Open::fresh, options));
  if (run->dir_.begun_before()) {
    options.listener.note(fmt::format(
        "warning: {} holds a run that ended before its first checkpoint: it starts anew", dir));
  }
  with_policy_of(run->plan_->config().run.start_from, options.listener.note,
                 [&](const Checkpoint& from) { run->trainer_->start_from(from); });
  try {
    run->write_config();
    run->dir_.write("manifest.json", manifest(*run->plan_, options.dependencies));
    run->save();  // from the first moment on there is something to resume
  } catch (const IoError& error) {
    throw IoError(fmt::format("the run cannot begin: {}; make room there or make it writable, or "
                              "choose another run.dir",
                              error.what()),
                  error.exit());
  }
  return run;
}

std::unique_ptr<Run> Run::resume(const std::string& dir, std::shared_ptr<const RunPlan> plan,
                                 const RunOptions& options) {
  const OneTorchThread one;
  std::unique_ptr<Run> run(new Run(std::move(plan), dir, RunDir::Open::resume, options));
  run->trainer_->resume();
  run->write_config();
  return run;
}

Summary Run::run(const std::atomic<bool>& stop) {
  const OneTorchThread one;
  return trainer_->run(stop);
}

namespace {

/// The instruction set that a run began with, where its manifest can tell.
std::string recorded_isa(const RunDir& files, const Note& note) {
  Json manifest;
  try {
    manifest = try_parse_json(files.read("manifest.json"));
  } catch (const IoError&) {
    // As one that is torn.
  }
  if (!manifest.is_object()) {
    note(fmt::format(
        "warning: {}/manifest.json is missing or torn: the run goes on with this "
        "machine's instruction set; if it began with another, its last bits will differ",
        files.path()));
    return "";
  }
  const Json isa = manifest.value("isa", Json(""));
  if (!isa.is_string()) {
    throw DataError(
        fmt::format("{}/manifest.json: isa is {}, not a name; delete the key to go on with what "
                    "this machine has",
                    files.path(), to_text(isa)));
  }
  return isa.get<std::string>();
}

}  // namespace

Settings recorded_settings(const std::string& dir, const Trust& trust, const Note& note) {
  RunDir files(dir, RunDir::Open::read);
  if (files.checkpoints().steps().empty()) {
    throw DataError(dir +
                    ": nothing to resume yet: the run ended before its first checkpoint; start it "
                    "anew with the same penstock train");
  }
  Settings settings = recorded_config(files, trust, note);
  const std::string isa = recorded_isa(files, note);
  if (isa.empty() || isa == "auto") { return settings; }
  const std::vector<std::string> there = fused::supported_isas();
  if (std::ranges::find(there, isa) == there.end()) {
    note(
        fmt::format("warning: the run began on {}, which this machine lacks: it goes on with {}, "
                    "and its last bits will differ",
                    isa, there.front()));
    return settings;
  }
  settings.add("isa", isa, "manifest.json");
  return settings;
}

}  // namespace penstock
