#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/core/base/config.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/train/catalog.h"
#include "penstock/core/train/note.h"

namespace penstock::fleet {

/// The keys of a fleet's file beside its sections [set], [grid] and [random], which hold keys of a
/// run's config.
struct Config {
  std::string recipe;
  std::string config;
  std::vector<std::int64_t> seeds = {1, 2, 3, 4, 5};
  std::int64_t draws = 0;
  std::uint64_t draw_seed = 1;
  std::string executor = "local";
  std::int64_t jobs = 0;  // 0 is auto
  std::int64_t max_deaths = 20;
  std::vector<std::int64_t> rungs;
  double keep = 0.5;
  std::string sbatch;
  std::string image;
  std::string claim;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit("recipe", recipe, "the recipe that every trial begins with");
    visit("config", config, "the config file that every trial begins with, beside this file");
    visit("seeds", seeds, "seeds of each setting", Range{0, 9e15});
    visit("draws", draws, "settings drawn from [random]; 0: none", Range{0, 1e6});
    visit("draw_seed", draw_seed, "seed of the draws");
    visit("executor", executor, "where trials run", Choices{"local", "slurm", "kubernetes"});
    visit("jobs", jobs, "trials at the same time; auto: a core each here, no limit elsewhere",
          Range{0, 1e6, true});
    visit("max_deaths", max_deaths, "times a trial may be killed before it is left", Range{0, 1e6});
    visit("rungs", rungs, "env steps at which only the best settings go on; none: all go on",
          Range{1, 1e15});
    visit("keep", keep, "share of the settings that goes on from a rung", Range{0.01, 1});
    visit("sbatch", sbatch, "more options for sbatch, as --partition=gpu --mem=4G");
    visit("image", image, "of Kubernetes: the container image that has penstock");
    visit("claim", claim, "of Kubernetes: the volume claim that holds the fleet's folder");
  }
};

/// One setting of the keys that the fleet varies, by path. Seeds do not count.
using Cell = std::vector<std::pair<std::string, std::string>>;

/// "ppo.clip=0.1 ppo.learning_rate=0.001", or "-" where nothing varies.
std::string label_of(const Cell& cell);

/// What a fleet's file asks for: every cell with every seed is a trial, numbered cell by cell.
/// Immutable once read.
class Fleet {
 public:
  /// `recipe_path` finds a recipe's file by its name. Throws ConfigError with file and line.
  Fleet(const std::string& file, const std::function<std::string(const std::string&)>& recipe_path);

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }
  [[nodiscard]] std::size_t num_trials() const { return cells_.size() * config_.seeds.size(); }
  [[nodiscard]] std::size_t cell_of(std::size_t trial) const {
    return trial / config_.seeds.size();
  }
  [[nodiscard]] std::int64_t seed_of(std::size_t trial) const {
    return config_.seeds[trial % config_.seeds.size()];
  }
  /// The whole config of a trial: that of `penstock train` with the same keys.
  [[nodiscard]] Settings settings_of(std::size_t trial) const;
  /// What all trials are, in one line: a folder belongs to one such text.
  [[nodiscard]] std::string identity() const;
  /// Throws ConfigError unless every cell is a config that can run.
  void check(const Catalog& catalog) const;

 private:
  std::string file_;
  Config config_;
  Settings base_;  // recipe or config file, then [set]
  std::vector<Cell> cells_;
};

/// The stages of a trial: one for each rung, and the last, which goes to the end.
using Stage = std::size_t;

/// What the ledger says of one stage of a trial.
struct Entry {
  std::size_t trial = 0;
  Stage stage = 0;
  std::int64_t exit = 0;  // 0: reached; else what the trial failed with, for good
  std::string error = {};
  std::string digest = {};  // of a trial that reached its end
  std::int64_t steps = 0;
  double score = 0;  // the evaluation's mean reward, at rungs that of the last 100 episodes; or NaN
};

/// Where the fleet's files are: ledger.jsonl, trials/N (run directories), logs/N.log. The ledger is
/// a journal that every trial appends to, on any machine that shares the folder.
class Folder {
 public:
  /// Makes the ledger if there is none. Throws ConfigError when the folder is of another fleet.
  Folder(const std::string& path, const Fleet& fleet);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string trial_dir(std::size_t trial) const;
  [[nodiscard]] std::string log_of(std::size_t trial) const;

  /// In the order in which they were made; no two of the same trial and stage.
  [[nodiscard]] std::vector<Entry> entries() const;
  /// Nothing where that stage of the trial has one.
  void append(const Entry& entry) const;
  /// Failed trials count as not begun.
  void forget_failures() const;
  /// Ids of the batch jobs that were handed to a scheduler, in their order.
  [[nodiscard]] std::vector<std::string> batch_jobs() const;
  void append_batch_job(const std::string& id) const;

 private:
  std::string path_;
  std::string header_;
};

/// Which trials must reach which stage next. Without any, the fleet is over.
struct Work {
  Stage stage = 0;
  std::vector<std::size_t> trials;  // without an entry of this stage
  std::vector<std::size_t> cells;   // that are still in the race
};
Work next_work(const Fleet& fleet, const std::vector<Entry>& entries);

/// Trains one trial to a stage, from its last checkpoint on, and enters it in the ledger. Errors
/// that another try would meet again are entered too. Returns Exit::preempted when `stop` was set.
Exit run_trial(const Fleet& fleet, const Folder& folder, std::size_t trial, Stage stage,
               const Catalog& catalog, const std::atomic<bool>& stop, const Note& note);

/// How an executor starts trials and tells of them.
struct Launch {
  std::vector<std::string> program;  // the words before "fleet"
  const std::atomic<bool>& stop;
  Note note;
};

/// Run a fleet until its work is done or `stop` is set, which ends local trials with a checkpoint
/// and leaves those of a scheduler. Throw IoError (exit 73) when another process runs it.
Exit run_local(const Fleet& fleet, const Folder& folder, const Launch& launch);
Exit run_slurm(const Fleet& fleet, const Folder& folder, const Launch& launch);
/// A Kubernetes Indexed Job that runs the trials, as YAML.
std::string kubernetes_job(const Fleet& fleet, const Folder& folder);

/// Ends the fleet that runs in this folder, and its trials. False when none does.
bool stop_fleet(const Folder& folder);

/// Of one cell, over the seeds that reached the end.
struct Row {
  std::string cell;
  std::int64_t count = 0;
  std::int64_t failed = 0;
  double mean = 0;    // NaN: of none
  double low = 0;     // of the mean's 95 % interval, by Student's t
  double high = 0;    // likewise; NaN: of fewer than two
  double median = 0;  // the mean of the two in the middle where their number is even
};
/// In the order of the cells; independent of the order of the ledger.
std::vector<Row> table(const Fleet& fleet, const std::vector<Entry>& entries);

}  // namespace penstock::fleet
