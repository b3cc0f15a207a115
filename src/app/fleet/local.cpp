#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <deque>
#include <map>
#include <thread>

#include "app/fleet/processes.h"
#include "app/fleet/tell.h"
#include "penstock/core/base/thread_pool.h"

namespace penstock::fleet {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// The trials that run here, a core each.
class Team {
 public:
  Team(const Fleet& fleet, const Folder& folder, const Launch& launch)
      : fleet_(fleet), folder_(folder), launch_(launch), told_(fleet, folder, launch.note) {
    const std::vector<int> cores = detail::own_cores();
    const std::size_t most = std::min(cores.size(), available_cores());
    const auto jobs = static_cast<std::size_t>(fleet.config().jobs);
    if (jobs > most) {
      throw ConfigError(
          fmt::format("jobs = {}: a trial takes a core, and there are {}", jobs, most));
    }
    free_.assign(cores.begin(), cores.begin() + (jobs == 0 ? most : jobs));
  }

  Exit run() {
    while (!launch_.stop) {
      const Work work = next_work(fleet_, told_.entries());
      if (work.trials.empty() && running_.empty()) { return told_.end(); }
      start_some(work);
      wait_for_one();
    }
    end_all();
    launch_.note("stopped; the same command goes on");
    return Exit::preempted;
  }

 private:
  struct Child {
    pid_t pid;
    int core;
    Stage stage;
  };

  void start_some(const Work& work) {
    for (const std::size_t trial : work.trials) {
      const bool later = not_before_.contains(trial) && not_before_[trial] > Clock::now();
      if (free_.empty() || running_.contains(trial) || later) { continue; }
      std::vector<std::string> words = launch_.program;
      for (const std::string& word : trial_words(fleet_, folder_)) { words.push_back(word); }
      words.insert(words.end(),
                   {"--trial", fmt::format("{}", trial), "--stage", fmt::format("{}", work.stage)});
      const int core = free_.front();
      const pid_t pid = detail::start(words, core, folder_.log_of(trial));
      free_.pop_front();
      running_[trial] = {pid, core, work.stage};
    }
  }

  /// Returns after one has ended, or after a while.
  void wait_for_one() {
    for (int i = 0; i < 50 && !launch_.stop; ++i) {
      if (reap()) { return; }
      std::this_thread::sleep_for(10ms);
    }
  }

  bool reap() {
    bool any = false;
    for (auto child = running_.begin(); child != running_.end();) {
      const auto end = detail::end_of(child->second.pid);
      if (!end) {
        ++child;
        continue;
      }
      const auto [trial, was] = *child;
      free_.push_back(was.core);
      child = running_.erase(child);
      any = true;
      ended(trial, was.stage, *end);
    }
    return any;
  }

  void ended(std::size_t trial, Stage stage, const detail::End& end) {
    told_.update();
    if (end.signal != 0) {
      launch_.note(
          fmt::format("trial {} was killed by signal {}; it goes on from its last checkpoint",
                      trial, end.signal));
      if (++deaths_[trial] > fleet_.config().max_deaths) {
        fail(trial, stage, 128 + end.signal, "killed more than max_deaths times");
      }
    } else if (end.exit == static_cast<int>(Exit::cannot_create)) {
      // A trial of a fleet that was killed has the directory for as long as it takes to save.
      not_before_[trial] = Clock::now() + 500ms;
      if (++refusals_[trial] > 240) {
        fail(trial, stage, end.exit, "another process holds its run directory");
      }
    } else if (end.exit != 0 && end.exit != static_cast<int>(Exit::preempted)) {
      // It entered why, unless it could not.
      fail(trial, stage, end.exit, "see " + folder_.log_of(trial));
    }
  }

  void fail(std::size_t trial, Stage stage, int exit, const std::string& why) {
    folder_.append({.trial = trial, .stage = stage, .exit = exit, .error = why});
    told_.update();
  }

  void end_all() {
    for (const auto& [trial, child] : running_) { kill(child.pid, SIGTERM); }
    while (!running_.empty()) {
      if (!reap()) { std::this_thread::sleep_for(10ms); }
    }
  }

  const Fleet& fleet_;
  const Folder& folder_;
  const Launch& launch_;
  detail::Teller told_;
  std::deque<int> free_;  // cores
  std::map<std::size_t, Child> running_;
  std::map<std::size_t, std::int64_t> deaths_;
  std::map<std::size_t, int> refusals_;
  std::map<std::size_t, Clock::time_point> not_before_;
};

}  // namespace

Exit run_local(const Fleet& fleet, const Folder& folder, const Launch& launch) {
  const detail::Claim claim(folder.path());
  return Team(fleet, folder, launch).run();
}

}  // namespace penstock::fleet
