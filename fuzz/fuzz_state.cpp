// A saved env whose bytes were changed is either refused by load() or plays on: 40 steps that read
// and write no memory of others. The first byte chooses the env, the second how many steps it has
// made; each four bytes after that are a change of its state.
#include <cstdlib>
#include <cstring>
#include <map>

#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/env/dvrptw.h"
#include "penstock/domains/cage2/sim/cage2.h"
#include "penstock/envs/classic/classic.h"

namespace {

using namespace penstock;
using State = std::vector<std::byte>;

std::vector<EnvEntry> entries() {
  std::vector<EnvEntry> all = classic_envs();
  std::erase_if(all, [](const EnvEntry& entry) { return entry.name == "load"; });  // only waits
  for (EnvEntry& entry : cage2_envs()) { all.push_back(std::move(entry)); }
  const EnvEntry booking = booking::routing_envs().front();
  for (const char* mask : {"env.mask=none", "env.mask=bayes"}) {
    all.push_back(with_settings(
        booking, {"env.customers=4", "env.vehicles=2", "env.oracle=insertion", mask}, "fuzz"));
  }
  return all;
}

class Player {
 public:
  explicit Player(const EnvEntry& entry)
      : envs_(entry.make_factory()->make(1, 1)), legal_(new bool[num_actions() + 1]) {
    obs_.resize(envs_->spec().obs.size());
    final_obs_.resize(obs_.size());
  }

  State state_after(int steps) {
    envs_->seed(0, 1);
    envs_->reset({0, 1}, rows());
    for (int i = 0; i < steps; ++i) { step(i); }
    State state;
    envs_->save(0, state);
    return state;
  }

  void play(const State& state, int steps) {
    std::fill_n(legal_.get(), num_actions(), true);  // the row of a loaded env is not known
    envs_->load(0, state);
    for (int i = 0; i < steps; ++i) { step(i); }
  }

 private:
  [[nodiscard]] std::size_t num_actions() const { return envs_->spec().action.num_actions(); }
  ObsRows rows() {
    return {obs_, {legal_.get(), envs_->spec().action.masked() ? num_actions() : 0}};
  }

  void step(int number) {
    const ActionSpec& action = envs_->spec().action;
    std::vector<std::int64_t> choices;
    for (const std::int64_t n : action.choices()) { choices.push_back(number * 7 % n); }
    if (action.masked() && choices.size() == 1) {
      choices[0] = std::find(legal_.get(), legal_.get() + num_actions(), true) - legal_.get();
    }
    const std::vector<float> points(action.continuous() ? action.dims() : 0, 0.5F);
    EpisodeEnd end;
    float reward = 0;
    bool terminated = false;
    bool truncated = false;
    envs_->step({0, 1}, {.choices = choices, .points = points}, rows(),
                {{&reward, 1}, {&terminated, 1}, {&truncated, 1}, final_obs_, {&end, 1}});
  }

  std::unique_ptr<VecEnv> envs_;
  std::unique_ptr<bool[]> legal_;
  std::vector<float> obs_;
  std::vector<float> final_obs_;
};

/// Where, of what kind, and with what. Lists have their length before them as 8 bytes.
void change(State& state, const std::uint8_t* four) {
  const std::size_t at = (four[0] + 256U * four[1]) % (state.size() + 1);
  const std::int64_t values[] = {static_cast<std::int8_t>(four[3]), std::int64_t{1} << four[3] % 64,
                                 0x7FF8000000000000, 0x7FF0000000000000};
  const std::int64_t value = values[four[2] / 8 % 4];
  const std::size_t width =
      std::min<std::size_t>(std::size_t{1} << four[2] / 32 % 4, state.size() - at);
  const auto place = state.begin() + static_cast<std::ptrdiff_t>(at);
  switch (four[2] % 8) {
    case 0:
      state.erase(place, place + static_cast<std::ptrdiff_t>(width));
      break;
    case 1:
      state.insert(place, width, std::byte{four[3]});
      break;
    default:
      std::memcpy(state.data() + at, &value, width);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<EnvEntry> all = entries();
  static std::map<int, State> saved;
  if (size < 2) { return 0; }
  const int env = data[0] % static_cast<int>(all.size());
  const int steps = data[1] % 32;
  Player player(all[env]);
  State& kept = saved[env * 32 + steps];
  if (kept.empty()) { kept = player.state_after(steps); }
  State state = kept;
  for (std::size_t i = 2; i + 4 <= std::min<std::size_t>(size, 256); i += 4) {
    change(state, data + i);
  }
  try {
    player.play(state, 40);
  } catch (const Error&) {
    return 0;  // any other exception is a crash
  }
  return 0;
}
