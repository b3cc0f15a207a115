// What every step of many random games is made of, as one number per rule set, and how fast one
// core steps: for bench/cage2/same_steps, which builds it against two trees.
//     step_digests            digests: observation, reward and whole state of 60,000 steps per rule
//     set step_digests speed      steps per second of processor time, 1,000 envs
#include <array>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "penstock/core/base/archive.h"
#include "penstock/core/base/random.h"
#include "penstock/core/env/batched_env.h"
#include "penstock/domains/cage2/sim/simulator.h"

namespace {

using namespace penstock;
using cage2::kNumActions;
using cage2::kObsSize;
using cage2::Simulator;

constexpr int kEpisodes = 600;
constexpr int kSteps = 100;

void mix(std::uint64_t& digest, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < size; ++i) { digest = (digest ^ bytes[i]) * 1099511628211U; }
}

Simulator::Config config_of(const std::string& rules) {
  Simulator::Config config;
  config.red = "mix";
  config.mix = {2, 2, 1};
  if (rules == "leaderboard") {
    config.rules = rules;
    config.wrapper = "v2";
  }
  if (rules == "dbg") {
    config.wrapper = "dbg";
    config.fix_vsftpd = config.fix_smb = config.fix_mysql = true;
    config.fix_remove_flag = config.reward_user_sessions = true;
  }
  return config;
}

std::uint64_t digest_of(const Simulator::Config& config) {
  std::uint64_t digest = 14695981039346656037U;
  Simulator game(config);
  std::array<float, kObsSize> row{};
  std::vector<std::byte> state;
  for (std::uint64_t seed = 0; seed < kEpisodes; ++seed) {
    game.reset(seed, {row, {}});
    Random random({.seed = seed, .stream = Stream::action});
    for (int t = 0; t < kSteps; ++t) {
      const float reward = game.step(random.below(kNumActions), {row, {}}).reward;
      state.clear();
      StateWriter writer(state);
      writer(game);
      mix(digest, row.data(), sizeof(row));
      mix(digest, &reward, sizeof(reward));
      mix(digest, state.data(), state.size());
    }
  }
  return digest;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double speed() {
  constexpr std::size_t kEnvs = 1000;
  constexpr int kRounds = 2000;
  Simulator::Config config;
  config.red = "mix";
  BatchedEnv<Simulator> envs(config, kEnvs, 1);
  std::vector<float> obs(kEnvs * kObsSize);
  std::vector<float> final_obs(obs.size());
  std::vector<std::int64_t> actions(kEnvs);
  std::vector<float> reward(kEnvs);
  const auto flags = std::make_unique<bool[]>(2 * kEnvs);
  std::vector<EpisodeEnd> ends(kEnvs);
  Random random(1);
  std::vector<std::int64_t> drawn(1U << 16U);
  for (std::int64_t& action : drawn) { action = random.below(kNumActions); }
  envs.reset({0, kEnvs}, {obs, {}});
  const double begin = processor_seconds();
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < kEnvs; ++i) {
      actions[i] = drawn[(round * kEnvs + i * 7) % drawn.size()];
    }
    envs.step({0, kEnvs}, {actions, {}}, {obs, {}},
              {reward, {flags.get(), kEnvs}, {flags.get() + kEnvs, kEnvs}, final_obs, ends});
  }
  return kEnvs * kRounds / (processor_seconds() - begin);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "speed") == 0) {
    std::printf("%.0f\n", speed());
    return 0;
  }
  for (const bool green : {false, true}) {
    for (const char* rules : {"head", "leaderboard", "dbg"}) {
      Simulator::Config config = config_of(rules);
      config.green = green;
      std::printf("%s%s %016llx\n", rules, green ? " with Green" : "",
                  static_cast<unsigned long long>(digest_of(config)));
    }
  }
  return 0;
}
