#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>

#include "app/cli/stop_signal.h"
#include "app/cli/verbs.h"
#include "penstock/app/fleet/fleet.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/note.h"
#include "penstock/core/base/program.h"
#include "penstock/core/base/text.h"
#include "penstock/core/base/text_file.h"
#include "penstock/core/store/journal.h"

namespace penstock::cli {
namespace {

namespace fs = std::filesystem;

struct FleetArgs {
  std::string file;
  std::string out;  // empty: fleets/NAME
  std::int64_t trial = -1;
  std::int64_t stage = -1;  // -1: the last
  bool status = false;
  bool stop = false;
  bool table = false;
  bool retry_failed = false;
  bool json = false;
  bool csv = false;
  bool dry_run = false;
};

struct Counts {
  std::size_t ended = 0;
  std::size_t failed = 0;
  std::size_t begun = 0;
  std::size_t waiting = 0;
  std::size_t dropped = 0;
};

Counts count(const fleet::Fleet& fleet, const fleet::Folder& folder) {
  const std::vector<fleet::Entry> entries = folder.entries();
  const fleet::Work work = next_work(fleet, entries);
  const fleet::Stage last = fleet.config().rungs.size();
  std::vector<bool> over(fleet.num_trials());
  std::vector<bool> in_race(fleet.cells().size());
  for (const std::size_t cell : work.cells) { in_race[cell] = true; }
  Counts counts;
  for (const fleet::Entry& entry : entries) {
    if (entry.trial >= over.size() || (entry.exit == 0 && entry.stage != last)) { continue; }
    over[entry.trial] = true;
    ++(entry.exit == 0 ? counts.ended : counts.failed);
  }
  for (std::size_t trial = 0; trial < over.size(); ++trial) {
    if (over[trial]) { continue; }
    const bool begun = fs::exists(folder.trial_dir(trial));
    ++(!in_race[fleet.cell_of(trial)] ? counts.dropped : begun ? counts.begun : counts.waiting);
  }
  return counts;
}

Exit print_status(const fleet::Fleet& fleet, const fleet::Folder& folder, bool json) {
  const Counts counts = count(fleet, folder);
  if (json) {
    fmt::print("{}\n", to_text(Json{{"trials", fleet.num_trials()},
                                    {"ended", counts.ended},
                                    {"begun", counts.begun},
                                    {"waiting", counts.waiting},
                                    {"dropped", counts.dropped},
                                    {"failed", counts.failed}}));
    return Exit::ok;
  }
  fmt::print("{} trials: {} ended, {} begun, {} waiting, {} failed", fleet.num_trials(),
             counts.ended, counts.begun, counts.waiting, counts.failed);
  if (counts.dropped > 0) { fmt::print(", {} dropped at a rung", counts.dropped); }
  fmt::print("\n");
  for (const fleet::Entry& entry : folder.entries()) {
    if (entry.exit == 0) { continue; }
    fmt::print("trial {} failed with {}: {}\n", entry.trial, entry.exit, printable(entry.error));
  }
  return Exit::ok;
}

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

void print_table(const fleet::Fleet& fleet, const fleet::Folder& folder, const FleetArgs& args) {
  std::vector<fleet::Row> rows = fleet::table(fleet, folder.entries());
  if (args.json) {
    Json all = Json::array();
    for (const fleet::Row& row : rows) {
      all.push_back({{"cell", row.cell},
                     {"seeds", row.count},
                     {"failed", row.failed},
                     {"mean", number_or_null(row.mean)},
                     {"low", number_or_null(row.low)},
                     {"high", number_or_null(row.high)},
                     {"median", number_or_null(row.median)}});
    }
    fmt::print("{}\n", to_text(all));
    return;
  }
  for (fleet::Row& row : rows) { row.cell = printable(row.cell); }
  if (args.csv) {
    fmt::print("cell,seeds,failed,mean,low,high,median\n");
    for (const fleet::Row& row : rows) {
      fmt::print("\"{}\",{},{},{},{},{},{}\n", row.cell, row.count, row.failed, row.mean, row.low,
                 row.high, row.median);
    }
    return;
  }
  std::size_t width = 8;
  for (const fleet::Row& row : rows) { width = std::max(width, row.cell.size()); }
  fmt::print("{:{}} {:>5} {:>6} {:>10} {:>23} {:>10}\n", "setting", width, "seeds", "failed",
             "mean", "95 % interval", "median");
  for (const fleet::Row& row : rows) {
    fmt::print("{:{}} {:5} {:6} {:10.2f} {:10.2f} to {:>9.2f} {:10.2f}\n", row.cell, width,
               row.count, row.failed, row.mean, row.low, row.high, row.median);
  }
}

Exit print_trials(const fleet::Fleet& fleet) {
  for (std::size_t trial = 0; trial < fleet.num_trials(); ++trial) {
    fmt::print("{} {} seed={}\n", trial,
               printable(fleet::label_of(fleet.cells()[fleet.cell_of(trial)])),
               fleet.seed_of(trial));
  }
  return Exit::ok;
}

/// The folder gets all that the pods need.
Exit write_kubernetes(const fleet::Fleet& fleet, const fleet::Folder& folder) {
  const std::string& base = fleet.config().config;
  if (base.find('/') != std::string::npos) {
    throw ConfigError("config: for executor = kubernetes it must lie beside the fleet's file");
  }
  const std::string job = kubernetes_job(fleet, folder);
  replace_text(folder.path() + "/fleet.toml", read_text(fleet.file()));
  if (!base.empty()) {
    replace_text(folder.path() + "/" + base,
                 read_text(fs::path(fleet.file()).parent_path() / base));
  }
  replace_text(folder.path() + "/job.yaml", job);
  fmt::print("kubectl apply -f {}/job.yaml\n", folder.path());
  return Exit::ok;
}

Exit run_fleet(const fleet::Fleet& fleet, const fleet::Folder& folder, const FleetArgs& args) {
  if (args.retry_failed) { folder.forget_failures(); }
  if (fleet.config().executor == "kubernetes") { return write_kubernetes(fleet, folder); }
  const fleet::Launch launch{own_program("fleet"), stop_on_signal(), print_note};
  const Exit how = fleet.config().executor == "slurm" ? run_slurm(fleet, folder, launch)
                                                      : run_local(fleet, folder, launch);
  if (how != Exit::preempted) { print_table(fleet, folder, args); }
  return how;
}

Exit fleet_of(const FleetArgs& args, const Catalog& catalog) {
  const fleet::Fleet fleet(args.file, recipe_path);
  if (args.dry_run) {
    fleet.check(catalog);
    return print_trials(fleet);
  }
  const std::string out =
      args.out.empty() ? "fleets/" + fs::path(args.file).stem().string() : args.out;
  const bool asks = args.status || args.table || args.stop;
  if (asks && !fs::exists(out + "/ledger.jsonl")) {
    throw DataError(fmt::format("{}: no fleet has run there; --out names its folder", out));
  }
  if (!asks && args.trial < 0) { fleet.check(catalog); }
  const fleet::Folder folder(out, fleet);
  if (args.status) { return print_status(fleet, folder, args.json); }
  if (args.stop) {
    print_note(stop_fleet(folder) ? "stopped; the same command without --stop goes on"
                                  : "this fleet does not run");
    return Exit::ok;
  }
  if (args.table) {
    print_table(fleet, folder, args);
    return Exit::ok;
  }
  if (args.trial >= 0) {
    const auto last = static_cast<std::int64_t>(fleet.config().rungs.size());
    return run_trial(fleet, folder, args.trial, args.stage < 0 ? last : args.stage, catalog,
                     stop_on_signal(), print_note);
  }
  return run_fleet(fleet, folder, args);
}

}  // namespace

Verb fleet_verb(Options& app, const Catalog& catalog) {
  auto args = std::make_shared<FleetArgs>();
  Options& verb =
      app.add_command("fleet", "many runs: seeds, grids and searches, here or on a cluster");
  verb.add("file", args->file, "the fleet's TOML file").required();
  verb.add("--out", args->out, "the fleet's folder; without it, fleets/NAME by the file's name");
  verb.add_flag("--status", args->status, "print how many trials have ended, and what failed");
  verb.add_flag("--table", args->table, "print mean, interval and median over seeds");
  verb.add_flag("--stop", args->stop, "end the fleet and its trials, each with a checkpoint");
  verb.add_flag("--retry-failed", args->retry_failed, "begin failed trials again");
  verb.add_flag("--json", args->json, "print JSON");
  verb.add_flag("--csv", args->csv, "print the table as CSV");
  verb.add_flag("--dry-run", args->dry_run, "print the trials only");
  verb.add("--trial", args->trial, "run this trial alone, as schedulers do");
  verb.add("--stage", args->stage, "of --trial: the rung to go to; without it, to the end");
  verb.set_footer(
      "Every combination of [grid] and [random] with every seed is a trial, an ordinary run "
      "directory in the fleet's folder. The same command goes on where it was interrupted.");
  return {&verb, [args, &catalog] { return fleet_of(*args, catalog); }};
}

}  // namespace penstock::cli
