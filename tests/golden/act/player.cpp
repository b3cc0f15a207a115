// Plays a policy file without libtorch, as a product would:  player POLICY ENV EPISODES [SEED]
// Prints what `penstock eval --json` prints of the same episodes, the memory used, and the time of
// a decision (median of many single rows).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "penstock/core/act/actor.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/envs/classic/classic.h"

using namespace penstock;

namespace {

/// One episode of env 0, as an evaluation plays it.
EpisodeEnd play(Actor& actor, VecEnv& envs) {
  const EnvSpec& spec = envs.spec();
  const std::size_t dims = spec.action.dims();
  std::vector<float> obs(spec.obs.size());
  std::vector<float> final_obs(spec.obs.size());
  std::vector<std::int64_t> choices(spec.action.continuous() ? 0 : dims);
  std::vector<float> points(spec.action.continuous() ? dims : 0);
  const auto legal = std::make_unique<bool[]>(spec.action.num_actions());
  const std::span<bool> mask(legal.get(), spec.action.masked() ? spec.action.num_actions() : 0);
  EpisodeEnd end;
  envs.reset({0, 1}, {obs, mask});
  bool terminated = false;
  bool truncated = false;
  while (!terminated && !truncated) {
    float reward = 0;
    actor.act({.count = 1, .obs = obs, .legal = mask}, {.choices = choices, .env_points = points});
    envs.step({0, 1}, {.choices = choices, .points = points}, {obs, mask},
              {.reward = {&reward, 1},
               .terminated = {&terminated, 1},
               .truncated = {&truncated, 1},
               .final_obs = final_obs,
               .episode = {&end, 1}});
  }
  return end;
}

/// Nanoseconds of a decision for one row.
double median_decision(Actor& actor, const EnvSpec& spec) {
  const std::vector<float> obs(spec.obs.size(), 0.1F);
  std::vector<std::int64_t> choices(spec.action.continuous() ? 0 : spec.action.dims());
  std::vector<float> points(spec.action.continuous() ? spec.action.dims() : 0);
  constexpr int kBlock = 64;  // reading the clock costs as much as a decision
  std::vector<double> times;
  for (int i = 0; i < 2000; ++i) {
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < kBlock; ++k) {
      actor.act({.count = 1, .obs = obs}, {.choices = choices, .env_points = points});
    }
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    times.push_back(spent.count() / kBlock);
  }
  std::ranges::nth_element(times, times.begin() + 1000);
  return times[1000];
}

/// The most memory that this program held; getrusage() would tell of the process it was forked
/// from.
long peak_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) { return std::strtol(line.c_str() + 6, nullptr, 10); }
  }
  return 0;
}

int run(const char* path, const std::string& env, std::size_t episodes, std::uint64_t seed) {
  const auto actor = make_actor(PolicyModel::load(path));
  const std::vector<EnvEntry> entries = classic_envs();
  const auto entry = std::ranges::find(entries, env, &EnvEntry::name);
  if (entry == entries.end()) { return 2; }
  const std::uint64_t base = Random(RandomKey{.seed = seed, .stream = Stream::evaluate}).next64();
  const auto envs = entry->make_factory()->make(1, base);
  Moments rewards;
  Moments lengths;
  for (std::size_t i = 0; i < episodes; ++i) {
    envs->seed(0, episode_seed(base, static_cast<std::uint32_t>(i), 0) >> 33U);
    const EpisodeEnd end = play(*actor, *envs);
    rewards.add(end.total_reward);
    lengths.add(static_cast<double>(end.length));
  }
  std::printf(
      "{\"mean_reward\": %.17g, \"std_reward\": %.17g, \"mean_ep_length\": %.17g, "
      "\"max_rss_kb\": %ld, \"decision_ns\": %.1f}\n",
      rewards.mean, std::sqrt(rewards.m2 / std::max(1.0, rewards.count - 1)), lengths.mean,
      peak_kilobytes(), median_decision(*actor, envs->spec()));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) { return 2; }
  try {
    return run(argv[1], argv[2], std::strtoul(argv[3], nullptr, 10),
               argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 0);
  } catch (const Error& error) {
    std::fprintf(stderr, "player: %s\n", error.what());
    return 1;
  }
}
