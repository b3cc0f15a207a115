#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "app/fleet/processes.h"
#include "app/fleet/tell.h"
#include "penstock/core/store/journal.h"

namespace penstock::fleet {
namespace {

using namespace std::chrono_literals;

std::string shell_quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) { out += c == '\'' ? std::string("'\\''") : std::string(1, c); }
  return out + "'";
}

/// What every task of the array runs: penstock takes the shell's place, so that Slurm's signals
/// reach it.
std::string write_script(const Fleet& fleet, const Folder& folder, const Launch& launch,
                         Stage stage) {
  std::vector<std::string> words = launch.program;
  for (const std::string& word : trial_words(fleet, folder)) { words.push_back(word); }
  for (std::string& word : words) { word = shell_quoted(word); }
  std::string path = fmt::format("{}/slurm/stage-{}.sh", folder.path(), stage);
  replace_text(path, fmt::format("#!/bin/sh\nexec {} --trial \"$SLURM_ARRAY_TASK_ID\" --stage {}\n",
                                 fmt::join(words, " "), stage));
  return path;
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \n");
  if (end == std::string::npos) { return ""; }
  const std::size_t begin = text.rfind('\n', end);
  return text.substr(begin + 1, end - begin);
}

detail::Answer ask_slurm(const std::vector<std::string>& words) {
  detail::Answer answer = detail::ask(words);
  if (answer.exit == 127) {
    throw IoError(
        fmt::format("{} could not be started; executor = slurm needs Slurm's commands", words[0]));
  }
  return answer;
}

void submit(const Fleet& fleet, const Folder& folder, const Launch& launch,
            const std::vector<std::size_t>& trials, Stage stage) {
  std::string array = fmt::format("--array={}", fmt::join(trials, ","));
  if (fleet.config().jobs > 0) { array += fmt::format("%{}", fleet.config().jobs); }
  std::vector<std::string> words = {"sbatch",     "--parsable",
                                    "--requeue",  "--open-mode=append",
                                    "--ntasks=1", "--job-name=penstock-fleet",
                                    array,        "--output=" + folder.path() + "/logs/%a.log"};
  std::istringstream more(fleet.config().sbatch);
  for (std::string word; more >> word;) { words.push_back(word); }
  words.push_back(write_script(fleet, folder, launch, stage));
  const detail::Answer answer = ask_slurm(words);
  if (answer.exit != 0) { throw IoError("sbatch: " + last_line(answer.text)); }
  const std::string line = last_line(answer.text);
  folder.append_batch_job(line.substr(0, line.find(';')));  // "ID" or "ID;CLUSTER"
}

/// The trials whose task waits or runs.
std::set<std::size_t> queued(const Folder& folder) {
  std::set<std::size_t> trials;
  for (const std::string& job : folder.batch_jobs()) {
    const detail::Answer answer = ask_slurm({"squeue", "-h", "-r", "-j", job, "-o", "%K"});
    if (answer.exit != 0) { continue; }  // Slurm has forgotten a job that ended long ago
    std::istringstream lines(answer.text);
    for (std::size_t trial = 0; lines >> trial;) { trials.insert(trial); }
  }
  return trials;
}

/// Whatever is due and not in Slurm's hands goes there: at first all, later what came back with 75
/// or was lost with its node. One that ended since the ledger was read goes there in vain, and ends
/// at once. `sent` counts.
void submit_missing(const Fleet& fleet, const Folder& folder, const Launch& launch,
                    const Work& work, std::map<std::size_t, std::int64_t>& sent) {
  const std::set<std::size_t> there = queued(folder);
  std::vector<std::size_t> missing;
  for (const std::size_t trial : work.trials) {
    if (there.contains(trial)) { continue; }
    if (sent[trial]++ > fleet.config().max_deaths) {
      folder.append({.trial = trial,
                     .stage = work.stage,
                     .exit = static_cast<std::int64_t>(Exit::failed),
                     .error = "ended more than max_deaths times; see " + folder.log_of(trial)});
    } else {
      missing.push_back(trial);
    }
  }
  if (missing.empty()) { return; }
  submit(fleet, folder, launch, missing, work.stage);
  launch.note(fmt::format("{} trials handed to Slurm", missing.size()));
}

}  // namespace

Exit run_slurm(const Fleet& fleet, const Folder& folder, const Launch& launch) {
  const detail::Claim claim(folder.path());
  detail::Teller told(fleet, folder, launch.note);
  std::map<std::size_t, std::int64_t> sent;
  while (!launch.stop) {
    told.update();
    const Work work = next_work(fleet, told.entries());
    if (work.trials.empty()) { return told.end(); }
    submit_missing(fleet, folder, launch, work, sent);
    for (int i = 0; i < 20 && !launch.stop; ++i) { std::this_thread::sleep_for(100ms); }
  }
  launch.note("no longer watched; Slurm goes on. The same command watches again, --stop ends it");
  return Exit::preempted;
}

}  // namespace penstock::fleet
