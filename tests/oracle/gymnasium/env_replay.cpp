#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "penstock/envs/classic/acrobot.h"
#include "penstock/envs/classic/cartpole.h"
#include "penstock/envs/classic/mountain_car.h"
#include "penstock/envs/classic/pendulum.h"

/// env_replay ENV INPUT OUTPUT: plays recorded actions from recorded states. Files hold doubles.
///     input:  per episode  num_steps, state[S], action[num_steps]
///     output: max_episode_steps, then per step  state[S], obs[O], reward, terminated
namespace penstock {
namespace {

std::vector<double> read_all(const char* path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) { throw std::runtime_error(std::string("cannot read ") + path); }
  std::vector<double> values(static_cast<std::size_t>(in.tellg()) / sizeof(double));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(values.data()),
          static_cast<std::streamsize>(values.size() * sizeof(double)));
  return values;
}

void write_all(const char* path, const std::vector<double>& values) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(double)));
  if (!out) { throw std::runtime_error(std::string("cannot write ") + path); }
}

template <Env E>
Outcome act(E& env, double action, Row row) {
  if constexpr (detail::TakesChoice<E>) {
    return env.step(static_cast<std::int64_t>(action), row);
  } else {
    const float point = static_cast<float>(action);
    return env.step(std::span(&point, 1), row);
  }
}

template <Env E>
class Replay {
 public:
  explicit Replay(std::size_t num_state) : env_({}), num_state_(num_state) {
    obs_.resize(env_.spec().obs.size());
    out_.push_back(static_cast<double>(env_.spec().max_episode_steps));
  }

  std::vector<double> run(std::span<const double> in) {
    while (!in.empty()) {
      const auto num_steps = static_cast<std::size_t>(in[0]);
      StateReader reader(std::as_bytes(in.subspan(1, num_state_)));
      env_.state(reader);
      for (const double action : in.subspan(1 + num_state_, num_steps)) { step(action); }
      in = in.subspan(1 + num_state_ + num_steps);
    }
    return out_;
  }

 private:
  void step(double action) {
    const Outcome outcome = act(env_, action, {obs_, {}});
    std::vector<std::byte> bytes;
    StateWriter writer(bytes);
    env_.state(writer);
    std::vector<double> state(num_state_);
    StateReader reader(bytes);
    for (double& value : state) { reader(value); }
    out_.insert(out_.end(), state.begin(), state.end());
    out_.insert(out_.end(), obs_.begin(), obs_.end());
    out_.push_back(outcome.reward);
    out_.push_back(outcome.terminated ? 1 : 0);
  }

  E env_;
  std::size_t num_state_;
  std::vector<float> obs_;
  std::vector<double> out_;
};

std::vector<double> replay(const std::string& name, std::span<const double> in) {
  if (name == "cartpole") { return Replay<CartPole>(4).run(in); }
  if (name == "acrobot") { return Replay<Acrobot>(4).run(in); }
  if (name == "mountain_car") { return Replay<MountainCar>(2).run(in); }
  if (name == "pendulum") { return Replay<Pendulum>(2).run(in); }
  throw std::runtime_error("no env " + name);
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::fputs("usage: env_replay ENV INPUT OUTPUT\n", stderr);
    return 2;
  }
  penstock::write_all(argv[3], penstock::replay(argv[1], penstock::read_all(argv[2])));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "env_replay: %s\n", error.what());
  return 1;
}
