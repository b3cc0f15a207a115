#pragma once
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "core/store/atomic_file.h"
#include "penstock/app/catalog/catalog.h"
#include "penstock/core/env/batched_env.h"
#include "penstock/core/train/run.h"

/// What tests of saves share: short runs of a tiny env on a disk that can be told to fail.
namespace penstock::saving {

namespace fs = std::filesystem;

/// Walks on a line; from its `spike_after`-th step on it pays more than its learner can count.
struct Walk {
  struct Config {
    std::int64_t spike_after = 0;
    double fatigue = 0;
    template <class Visitor>
    void fields(Visitor& visit) {
      visit("spike_after", spike_after, "steps until rewards overflow; 0: never", Range{0, 1e9});
      visit("fatigue", fatigue, "reward that it loses with each step of its life", Range{0, 1e9});
    }
  };
  explicit Walk(const Config& c) : config(c) {}
  [[nodiscard]] static EnvSpec spec() { return {Layout(1), Discrete{2}, 20}; }
  void reset(std::uint64_t seed, Row row) {
    x = static_cast<double>(seed % 7) / 7;
    row.obs[0] = static_cast<float>(x);
  }
  Outcome step(std::int64_t action, Row row) {
    x += action == 1 ? 0.1 : -0.1;
    row.obs[0] = static_cast<float>(x);
    const bool spike = ++age > config.spike_after && config.spike_after > 0;
    const double paid = x - config.fatigue * static_cast<double>(age);
    return {.reward = spike ? 3e38F : static_cast<float>(paid)};
  }
  template <class Archive>
  void state(Archive& archive) {
    archive(x, age);
  }
  Config config;
  double x = 0;
  std::int64_t age = 0;
};

inline Catalog catalog() {
  Catalog catalog = default_catalog();
  catalog.envs.push_back(env_entry<Walk>("walk", "on a line"));
  return catalog;
}

/// In memory where possible: these tests sync often.
struct Folder {
  fs::path path = fs::path(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") /
                  ("penstock-saves-" + std::to_string(::getpid()));
  Folder() { fs::remove_all(path); }
  ~Folder() { fs::remove_all(path); }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path / name; }
};

/// A disk that does as it is told, until this goes.
struct Disk {
  explicit Disk(detail::FaultHook hook) { detail::fault_hook() = std::move(hook); }
  ~Disk() { detail::fault_hook() = nullptr; }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
};

constexpr std::int64_t kUpdate = 8 * 32;  // samples
constexpr std::int64_t kUpdates = 16;

/// "run.save_tries=2"
using Assignments = std::vector<std::string>;

/// 16 updates, a save after each of them.
inline Settings settings_of(const std::string& dir, const Assignments& more = {}) {
  Settings settings;
  settings.add_toml(
      "total_timesteps = 4096\nthreads = 1\n[env]\nid = \"walk\"\nnum_envs = 8\n[rollout]\n"
      "steps = 32\n[run]\neval_episodes = 0\nsave_interval = 1\nsave_unit = \"updates\"\n",
      "test");
  settings.add("run.dir", dir, "test");
  for (const std::string& each : more) { settings.add_assignment(each, "test"); }
  return settings;
}

inline std::shared_ptr<const RunPlan> plan_of(const Settings& settings) {
  return std::make_shared<RunPlan>(settings, catalog());
}

inline std::unique_ptr<Run> fresh(const std::string& dir, const Assignments& more = {},
                                  RunListener listener = {}) {
  return Run::fresh(plan_of(settings_of(dir, more)), {.listener = std::move(listener)});
}

inline std::unique_ptr<Run> resumed(const std::string& dir, RunListener listener = {}) {
  const Note ignore = [](const std::string&) {};
  return Run::resume(dir, plan_of(recorded_settings(dir, {}, ignore)),
                     {.listener = std::move(listener)});
}

inline const std::atomic<bool> kGoOn{false};

/// What a run ends with that nothing happens to.
inline std::string expected_digest(const Folder& folder) {
  return fresh(folder / "undisturbed")->run(kGoOn).digest;
}

inline std::int64_t latest(const std::string& dir) {
  std::ifstream file(dir + "/ckpt/LATEST");
  std::int64_t step = -1;
  file >> step;
  return step;
}

/// The steps of the lines of metrics.jsonl.
inline std::vector<std::int64_t> logged_steps(const std::string& dir) {
  std::vector<std::int64_t> steps;
  std::ifstream file(dir + "/metrics.jsonl");
  for (std::string line; std::getline(file, line);) {
    steps.push_back(std::stoll(line.substr(line.find(':') + 1)));
  }
  return steps;
}

/// Keeps what a run says.
struct Said {
  std::string notes;
  std::vector<std::string> lines;

  RunListener listener() {
    RunListener out;
    out.note = [this](const std::string& text) { notes += text + "\n"; };
    out.line = [this](const std::string& text) { lines.push_back(text); };
    return out;
  }
  /// Of the lines "saved ckpt/256, the best so far".
  [[nodiscard]] std::vector<std::int64_t> saved() const {
    const std::string begin = "saved ckpt/";
    std::vector<std::int64_t> steps;
    for (const std::string& line : lines) {
      if (line.starts_with(begin)) { steps.push_back(std::stoll(line.substr(begin.size()))); }
    }
    return steps;
  }
};

}  // namespace penstock::saving
