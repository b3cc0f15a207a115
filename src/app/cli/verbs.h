#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "penstock/core/base/config.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/options.h"
#include "penstock/core/train/catalog.h"
#include "penstock/core/train/trained_run.h"
#include "penstock/core/train/trust.h"

namespace penstock::cli {

/// What verbs share: the config's sources and how to print.
struct Common {
  std::string config_file;
  std::string recipe;
  std::vector<std::string> assignments;  // --set
  Settings flags;                        // --num-envs 8 and the like, as settings
  Trust trust;                           // of a file or directory that a stranger may have made
  bool json = false;
  bool dry_run = false;

  /// File or recipe, then environment, then --set, then flags: the last wins.
  [[nodiscard]] Settings settings() const;
};

/// Adds --config, --recipe, --set and the flags that stand for keys.
void add_config_options(Options& app, Common& common);
/// Adds --num-workers and what belongs to it.
void add_worker_options(Options& app, Common& common);
/// --trust, --env and --python: the user's word for what a file or directory names.
void add_trust_options(Options& app, Common& common);
/// The run in `dir` as these options have it; what there is to note goes to stderr.
TrainedRun open_chosen(const std::string& dir, const std::string& checkpoint, const Common& common,
                       const Catalog& catalog);
/// --duration, with its unit.
void add_duration(Options& app, Common& common);
/// Of "90s", "5m", "0.5h". Throws UsageError.
double seconds_of(const std::string& text);
/// Adds a flag (with its other spellings, "--num-envs,--n-envs") that sets one key.
void add_key(Options& app, Common& common, const std::string& names, const std::string& path,
             const std::string& doc);
/// Takes the options that the verb itself does not know for keys of the env that the settings name:
/// --max-steps 50 is env.max_steps=50, --async-embedding is env.embedding=async. Throws UsageError
/// with the nearest spelling.
void add_env_flags(const Options& verb, const Catalog& catalog, Settings& settings);

/// The verbs that need no domain; each adds itself to the app.
Verb train_verb(Options& app, const Catalog& catalog);
Verb resume_verb(Options& app, const Catalog& catalog);
Verb eval_verb(Options& app, const Catalog& catalog);
Verb export_verb(Options& app, const Catalog& catalog);
Verb replay_verb(Options& app, const Catalog& catalog);
Verb envs_verb(Options& app, const Catalog& catalog);
Verb config_verb(Options& app, const Catalog& catalog);
Verb fleet_verb(Options& app, const Catalog& catalog);
Verb doctor_verb(Options& app, const Catalog& catalog);
std::vector<Verb> bench_verbs(Options& app, const Catalog& catalog);

/// Becomes another program, found by PATH; returns only when it cannot be started.
void become(std::vector<std::string> words);

/// Where recipes/*.toml are: PENSTOCK_RECIPES, beside the source tree, or the install prefix.
std::vector<std::string> recipe_names();
std::string recipe_path(const std::string& name);

}  // namespace penstock::cli
