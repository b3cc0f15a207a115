#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "penstock/core/base/errors.h"
#include "penstock/core/peers/peers.h"
#include "penstock/core/store/run_dir.h"
#include "penstock/core/train/config.h"
#include "penstock/core/train/run_listener.h"
#include "penstock/core/train/trust.h"

namespace penstock {

class Carrier;
class Engine;
class Trainer;

/// What a program adds to its runs.
struct RunOptions {
  RunListener listener;
  /// Versions that the manifest tells beside torch's: {"python", "3.11.2"}.
  std::map<std::string, std::string> dependencies = {};
  std::string dir = {};  // of a fresh run; empty: as the plan says
  /// The processes that train it together, of which this is rank 0; they outlive the run.
  Peers* peers = &alone();
  /// What joins it to samplers in other processes, and outlives the run; null: it samples itself.
  Carrier* carrier = nullptr;
};

/// The home of a run: its directory with config.toml and manifest.json, its lock, its instruction
/// set, its trainer. The command line, Python and embedding programs all begin and resume runs
/// here.
///
/// Not thread-safe; several runs may live side by side, each on its own thread. While one works,
/// libtorch computes with one intra-op thread in the whole process; the number before is given
/// back.
///
///     auto run = Run::fresh(std::make_shared<RunPlan>(settings, catalog), {});
///     const Summary summary = run->run(stop);  // stop: std::atomic<bool>
///
/// The lock keeps other processes out of the directory as long as the object lives.
class Run {
 public:
  ~Run();

  /// Begins one in its directory, after checking device and memory. Throws ConfigError, or IoError
  /// when the directory holds a run already.
  static std::unique_ptr<Run> fresh(std::shared_ptr<const RunPlan> plan, const RunOptions& options);
  /// Goes on in `dir` from the newest whole checkpoint. The plan is that of recorded_settings(),
  /// with changes of how it runs; it is written to config.toml. Throws DataError.
  static std::unique_ptr<Run> resume(const std::string& dir, std::shared_ptr<const RunPlan> plan,
                                     const RunOptions& options);

  /// Until the budget is spent or `stop` is set. An exception of an env or a listener leaves it
  /// after a checkpoint was saved; a loss that is not finite leaves the last one as it is.
  Summary run(const std::atomic<bool>& stop);

  /// Between calls of run(), or from a listener: a checkpoint now, the policy as it is, and the
  /// engine, of core/train/engine.h.
  void save();
  [[nodiscard]] std::shared_ptr<const PolicyModel> model() const;
  [[nodiscard]] Engine& engine();
  [[nodiscard]] const RunPlan& plan() const { return *plan_; }
  [[nodiscard]] const std::string& dir() const { return dir_.path(); }

 private:
  Run(std::shared_ptr<const RunPlan> plan, const std::string& dir, RunDir::Open mode,
      const RunOptions& options);
  void write_config();

  std::shared_ptr<const RunPlan> plan_;
  RunDir dir_;
  std::unique_ptr<Trainer> trainer_;  // behind a pointer: its header brings ATen
};

/// The part of every process but rank 0 in a run of several: trains with the others until rank 0
/// ends the run, and returns how it ended. A `stop` here stops all. Throws what ended the run,
/// PeerError when another process is lost.
Exit follow_run(const RunPlan& plan, Peers& peers, const std::atomic<bool>& stop);

/// What rank 0 calls last: the other processes leave, knowing how the run ended.
void dismiss_followers(Peers& peers, Exit how) noexcept;

/// The config that all processes of a run have: rank 0's, with the instruction set that all of them
/// can. `mine` is what this process was started with; without it, as in a process that follows a
/// run which rank 0 resumes, whatever rank 0 has. Throws ConfigError, in all of them, where one was
/// started with another config or another build, and where the config does not fit their number.
Settings agree_on_settings(Peers& peers, const Settings* mine, const Catalog& catalog);

/// Gives a new run's engine the newest policy of the run in `path`, see run.start_from; nothing
/// where it is empty. Throws DataError.
void take_policy(Engine& engine, const std::string& path, const Note& note);

/// What a run directory says its run is: config.toml, and the instruction set of manifest.json,
/// which a run keeps where the machine has it; `note` is told where it has not. Throws DataError,
/// also where the run names code that needs the user's word.
Settings recorded_settings(const std::string& dir, const Trust& trust, const Note& note);

}  // namespace penstock
