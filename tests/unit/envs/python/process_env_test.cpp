#include "penstock/envs/python/process_env.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

#include "penstock/core/base/config.h"
#include "penstock/core/base/errors.h"
#include "penstock/envs/python/python_env.h"
#include "penstock/envs/python/worker_port.h"

using namespace penstock;

namespace {

/// An env with one number: the seed and the sum of its actions. It ends after `kLength` steps;
/// action 6 hangs, 7 is a NaN, 8 throws, 9 kills the process, 10 is the worker's last; from 11 on
/// it does not leave; 12 throws and so does the next beginning, and the one after takes its time.
/// Asked for its state it writes its seed and sum to a file, which it takes them back from.
constexpr std::int64_t kLength = 8;

struct Tally {
  std::uint64_t seed = 0;
  std::int64_t sum = 0;
  std::int64_t steps = 0;
  bool begun = false;
};

class Toy {
 public:
  explicit Toy(SharedRows& rows) : rows_(rows), envs_(rows.num_envs()) {}

  void work(std::size_t env, Order order) {
    Tally& tally = envs_[env];
    rows_.answer(env) = Answer::ok;
    rows_.reward(env) = 0;
    if (order == Order::keep || order == Order::restore) {
      carry(env, order);
      return;
    }
    rows_.terminated(env) = rows_.truncated(env) = false;
    if (order != Order::step) {
      const std::size_t trouble = std::exchange(trouble_, trouble_ / 2);
      if (trouble == 2) {
        fail(env);
        return;
      }
      if (trouble == 1) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }
      begin(env);
      return;
    }
    if (!tally.begun) {
      rows_.answer(env) = Answer::absent;
      return;
    }
    const std::int64_t action = rows_.choices(env)[0];
    last_ = last_ || action == 10;
    if (action == 9) { ::kill(::getpid(), SIGKILL); }
    if (action == 6) { ::pause(); }
    stays_ = stays_ || action == 11;
    if (action == 12) { trouble_ = 2; }
    if (action == 12 || action == 8) {
      fail(env);
      return;
    }
    tally.sum += action;
    ++tally.steps;
    rows_.reward(env) = static_cast<float>(action);
    write(rows_.obs(env), tally, action == 7);
    if (tally.steps == kLength) {
      rows_.terminated(env) = true;
      write(rows_.final_obs(env), tally, false);
      begin(env);
    }
  }

  /// Whether the worker is to end, once its answers are given.
  [[nodiscard]] bool last() const { return last_; }
  /// Whether it is deaf to the end.
  [[nodiscard]] bool stays() const { return stays_; }

 private:
  void fail(std::size_t env) {
    rows_.answer(env) = Answer::failed;
    std::snprintf(rows_.message(env).data(), SharedRows::kMessageSize, "it threw");
  }
  void carry(std::size_t env, Order order) {
    Tally& tally = envs_[env];
    const char* file = rows_.message(env).data();
    if (order == Order::keep) {
      std::ofstream(file) << tally.seed << ' ' << tally.sum;
    } else if (Tally told = tally; std::ifstream(file) >> told.seed >> told.sum) {
      tally = told;
    } else {
      fail(env);
    }
  }
  void begin(std::size_t env) {
    envs_[env] = {.seed = rows_.seed(env), .begun = true};
    write(rows_.obs(env), envs_[env], false);
  }
  static void write(std::span<float> row, const Tally& tally, bool bad) {
    row[0] = static_cast<float>(tally.seed % 1000);
    row[1] = bad ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(tally.sum);
  }

  SharedRows& rows_;
  std::vector<Tally> envs_;
  bool last_ = false;
  bool stays_ = false;
  std::size_t trouble_ = 0;  // 2: the next beginning fails, 1: it takes its time
};

/// Workers are forked by a server: a fork of the test that was made while it had one thread. A
/// child of several inherits locks that nobody releases, and threads that a sanitizer misses.
class ForkLauncher final : public Launcher {
 public:
  ForkLauncher() = default;
  ForkLauncher(const ForkLauncher&) = delete;
  ForkLauncher& operator=(const ForkLauncher&) = delete;
  ~ForkLauncher() override {
    if (::getpid() != owner_ || server_ < 0) { return; }
    ::close(socket_);
    ::kill(server_, SIGKILL);
    ::waitpid(server_, nullptr, 0);
  }

  std::string describe(const TrialOptions& /*options*/) override { return "{}"; }
  Process start(const SharedRows& rows, std::size_t worker) override {
    if (server_ < 0) { start_server(rows.fd()); }  // by the constructor of the envs
    const pid_t pid = ask(-static_cast<int>(worker));
    return {pid, static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
  }
  std::string end_of(const Process& process) override {
    const std::string end = status_text(ask(process.pid()));
    const std::scoped_lock lock(mutex_);
    return ends_.emplace_back(end);
  }
  [[nodiscard]] const std::vector<std::string>& ends() const { return ends_; }

 private:
  /// The status of a worker (its pid), or the pid of a new one (0 or its number, negative).
  int ask(int request) {
    const std::scoped_lock lock(mutex_);
    int answer = 0;
    REQUIRE(::write(socket_, &request, sizeof(request)) == sizeof(request));
    REQUIRE(::read(socket_, &answer, sizeof(answer)) == sizeof(answer));
    return answer;
  }

  void start_server(int rows) {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()) == 0);
    socket_ = ends[0];
    server_ = ::fork();
    if (server_ > 0) {
      ::close(ends[1]);
      return;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    int request = 0;
    while (::read(ends[1], &request, sizeof(request)) == sizeof(request)) {
      int answer = 0;
      if (request > 0) {
        ::waitpid(request, &answer, 0);
      } else if (answer = ::fork(); answer == 0) {
        work(rows, static_cast<std::size_t>(-request));
      }
      if (::write(ends[1], &answer, sizeof(answer)) < 0) { break; }
    }
    ::_exit(0);
  }

  [[noreturn]] static void work(int fd, std::size_t worker) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    SharedRows rows(fd);
    WorkerPort port(rows, worker);
    Toy toy(rows);
    while (!toy.last() && port.wait()) {
      port.serve([&](std::size_t env, Order order) { toy.work(env, order); });
    }
    while (toy.stays()) { ::pause(); }
    ::_exit(0);
  }

  std::vector<std::string> ends_;
  std::mutex mutex_;
  pid_t owner_ = ::getpid();
  pid_t server_ = -1;
  int socket_ = -1;
};

class ToyInline final : public InlineWorker {
 public:
  explicit ToyInline(SharedRows& rows) : toy_(rows) {}
  void work(std::size_t env, Order order) override { toy_.work(env, order); }

 private:
  Toy toy_;
};

EnvSpec toy_spec() { return {.obs = Layout(2), .action = Discrete{13}}; }

constexpr double kNeverS = 300;  // no worker is late for want of time on a busy machine
constexpr double kSoonS = 2;

ProcessEnv::Options options(std::size_t num_envs, std::size_t workers,
                            double deadline_s = kNeverS) {
  return {.id = "toy",
          .kwargs = "{}",
          .envs = {.first = 0, .count = num_envs},
          .seed = 100,
          .num_workers = workers,
          .step_deadline_s = deadline_s,
          .max_restarts = 5};
}

std::unique_ptr<ProcessEnv> make(const ProcessEnv::Options& of) {
  if (of.num_workers == 0) {
    return std::make_unique<ProcessEnv>(
        toy_spec(), of, [](SharedRows& rows) { return std::make_unique<ToyInline>(rows); });
  }
  return std::make_unique<ProcessEnv>(toy_spec(), of, std::make_shared<ForkLauncher>());
}

std::unique_ptr<VecEnv> make(std::size_t num_envs, std::size_t workers,
                             double deadline_s = kNeverS) {
  return make(options(num_envs, workers, workers == 0 ? kNeverS : deadline_s));
}

/// Steps all envs and keeps what came of it.
struct Driver {
  explicit Driver(VecEnv& on)
      : envs(on),
        obs(on.num_envs() * 2),
        final_obs(obs.size()),
        reward(on.num_envs()),
        ends(on.num_envs()),
        terminated(std::make_unique<bool[]>(on.num_envs())),
        truncated(std::make_unique<bool[]>(on.num_envs())) {}

  void reset() { envs.reset({0, envs.num_envs()}, {obs, {}}); }
  void step(const std::vector<std::int64_t>& actions) { step(actions, {0, envs.num_envs()}); }
  void step(const std::vector<std::int64_t>& actions, EnvRange range) {
    const std::size_t first = range.begin;
    const std::size_t n = range.size();
    envs.step(range, {.choices = std::span(actions).subspan(first, n), .points = {}},
              {std::span(obs).subspan(first * 2, n * 2), {}},
              {.reward = std::span(reward).subspan(first, n),
               .terminated = {terminated.get() + first, n},
               .truncated = {truncated.get() + first, n},
               .final_obs = std::span(final_obs).subspan(first * 2, n * 2),
               .episode = std::span(ends).subspan(first, n)});
  }

  VecEnv& envs;
  std::vector<float> obs;
  std::vector<float> final_obs;
  std::vector<float> reward;
  std::vector<EpisodeEnd> ends;
  std::unique_ptr<bool[]> terminated;
  std::unique_ptr<bool[]> truncated;
};

}  // namespace

TEST_CASE("every env belongs to the worker whose range holds it") {
  for (const std::size_t num_envs : {1U, 2U, 7U, 64U}) {
    for (std::size_t workers = 1; workers <= num_envs; ++workers) {
      const SharedRows rows(toy_spec(), num_envs, workers);
      for (std::size_t i = 0; i < num_envs; ++i) {
        const EnvRange range = rows.range_of(rows.worker_of(i));
        CHECK((range.begin <= i && i < range.end));
      }
    }
  }
}

TEST_CASE("memory that is not rows is refused") {
  const int fd = ::memfd_create("other", 0);
  CHECK_THROWS_AS(SharedRows{fd}, DataError);
  CHECK(::ftruncate(fd, 4096) == 0);
  CHECK_THROWS_AS(SharedRows{fd}, DataError);
  ::close(fd);
}

TEST_CASE("episodes are the same for any number of workers") {
  std::vector<std::vector<float>> seen;
  for (const std::size_t workers : {0U, 1U, 2U, 3U, 5U}) {
    const auto envs = make(5, workers);
    CHECK((envs->async() != nullptr) == (workers > 0));
    Driver driver(*envs);
    driver.reset();
    std::vector<float> all = driver.obs;
    for (std::int64_t t = 0; t < 23; ++t) {
      driver.step({t % 5, 1, 2, t % 3, 0});
      all.insert(all.end(), driver.obs.begin(), driver.obs.end());
      all.insert(all.end(), driver.reward.begin(), driver.reward.end());
    }
    CHECK(driver.ends[1].total_reward == kLength);
    CHECK(driver.ends[1].length == kLength);
    seen.push_back(all);
  }
  CHECK(seen[0][0] == 100);  // the first episode's seed is the env's: seed + offset
  CHECK(seen[0][2] == 101);
  for (const auto& other : seen) { CHECK(other == seen[0]); }
}

TEST_CASE("a failure costs the episode and nothing else") {
  for (const std::size_t workers : {0U, 1U, 2U}) {
    for (const std::int64_t bad : {6, 7, 8, 9}) {
      const bool both =
          bad == 9 || bad == 6;  // env 1 is in the same process, 2 and 3 with one worker
      if (both && workers == 0) { continue; }  // the process would be ours
      CAPTURE(workers);
      CAPTURE(bad);
      const auto envs = make(4, workers, bad == 6 ? kSoonS : kNeverS);
      Driver driver(*envs);
      driver.reset();
      driver.step({1, 1, 1, 1});
      driver.step({bad, 1, 1, 1});
      CHECK(driver.truncated[0]);
      CHECK_FALSE(driver.terminated[0]);
      CHECK(driver.ends[0].discarded);
      CHECK(driver.reward[0] == 0);
      CHECK(driver.final_obs[1] == 1);  // the row that was acted on
      CHECK(driver.obs[1] == 0);
      CHECK(driver.truncated[1] == both);
      CHECK(driver.truncated[2] == (both && workers == 1));
      const std::vector<Incident> incidents = envs->take_incidents();
      REQUIRE(incidents.size() == 1);
      CHECK(incidents[0].message.find("env 0 (seed 100, episode 0, step 2, last actions [[1],[") ==
            0);
      CHECK(incidents[0].replay.find("\"actions\":[[1],[") != std::string::npos);
      for (int t = 0; t < 4; ++t) { driver.step({1, 1, 1, 1}); }
      CHECK(envs->take_incidents().empty());
      CHECK(driver.obs[1] == 4);
    }
  }
}

TEST_CASE("a beginning that failed is tried again, and waited for") {
  for (const std::size_t workers : {0U, 1U}) {
    const auto envs = make(1, workers);
    Driver driver(*envs);
    driver.reset();
    driver.step({1});
    driver.step({12});
    CHECK(envs->take_incidents().size() == 2);  // of the step and of the first try
    CHECK(driver.obs[1] == 0);
    driver.step({1});
    CHECK(driver.obs[1] == 1);
  }
}

TEST_CASE("a worker that does not leave is ended") {
  const auto launcher = std::make_shared<ForkLauncher>();
  auto envs = std::make_unique<ProcessEnv>(toy_spec(), options(2, 2), launcher);
  Driver driver(*envs);
  driver.reset();
  driver.step({1, 11});
  envs.reset();
  REQUIRE(launcher->ends().size() == 2);
  CHECK(launcher->ends()[0] == "ended with exit code 0");
  CHECK(launcher->ends()[1].starts_with("killed by signal 9"));
}

TEST_CASE("a worker that ends between steps is missed at the next one, with all of its envs") {
  ProcessEnv::Options some = options(3, 2);
  some.envs.first = 10;  // of the run's
  const auto envs = make(some);
  Driver driver(*envs);
  driver.reset();
  const auto told_of = [&](const std::vector<std::int64_t>& actions) {
    driver.step(actions);
    driver.step({1, 1, 1});
    const std::vector<Incident> told = envs->take_incidents();
    return told.size() == 1 ? told[0].message : std::to_string(told.size()) + " incidents";
  };
  CHECK(told_of({1, 1, 10}).starts_with("envs 11 to 12, between steps: its worker was "));
  CHECK(told_of({10, 1, 1}).starts_with("env 10, between steps: its worker was "));
}

TEST_CASE("a worker that is killed in a step is replaced at once") {
  const auto envs = make(2, 2);
  Driver driver(*envs);
  driver.reset();
  driver.step({1, 1});
  driver.step({9, 1});  // a new worker for env 0
  CHECK(envs->take_incidents().size() == 1);
  driver.step({1, 1});
  CHECK(driver.obs[1] == 1);
  CHECK(driver.obs[3] == 3);
}

TEST_CASE("an incident tells the last five actions") {
  const auto envs = make(1, 0);
  Driver driver(*envs);
  driver.reset();
  for (const std::int64_t action : {1, 2, 3, 1, 2, 3, 8}) { driver.step({action}); }
  const std::vector<Incident> told = envs->take_incidents();
  REQUIRE(told.size() == 1);
  CHECK(told[0].message.starts_with(
      "env 0 (seed 100, episode 0, step 7, last actions [[3],[1],[2],[3],[8]]): "));
}

TEST_CASE("the budget ends it with the first cause") {
  const auto envs = make(1, 1);
  Driver driver(*envs);
  driver.reset();
  driver.step({1});  // so a first step is possible
  for (int t = 0; t < 5; ++t) { driver.step({8}); }
  CHECK_THROWS_WITH_AS(
      driver.step({8}),
      doctest::Contains(
          "more than env.max_restarts = 5 within env.restart_window_s = 3600; the first: env 0 "
          "(seed 100, episode 0, step 2"),
      Error);
}

TEST_CASE("a failure that nobody ever gets beyond ends it early") {
  for (const std::size_t workers : {0U, 1U}) {
    const auto envs = make(1, workers);
    Driver driver(*envs);
    driver.reset();
    driver.step({8});
    driver.step({8});
    CHECK_THROWS_WITH_AS(
        driver.step({8}),
        doctest::Contains("3 times at step 1 in the same way, and none got beyond it: env 0"),
        Error);
  }
}

TEST_CASE("a loaded env is where it was") {
  for (const std::size_t workers : {0U, 2U}) {
    const auto first = make(3, workers);
    Driver whole(*first);
    whole.reset();
    for (std::int64_t t = 0; t < 8; ++t) {
      whole.step({t % 6, 1, t % 4}, {0, 3});
      whole.envs.take_incidents();
    }
    const auto second = make(3, workers == 0 ? 1 : 0);
    for (std::size_t i = 0; i < 3; ++i) {
      std::vector<std::byte> bytes;
      first->save(i, bytes);
      second->load(i, bytes);
    }
    Driver resumed(*second);
    for (std::int64_t t = 0; t < 9; ++t) {
      whole.step({2, t % 3, 1});
      resumed.step({2, t % 3, 1});
      CHECK(whole.obs == resumed.obs);
      CHECK(whole.reward == resumed.reward);
      CHECK(whole.terminated[0] == resumed.terminated[0]);
    }
    CHECK(whole.ends[1].total_reward == resumed.ends[1].total_reward);
    CHECK(second->take_incidents().empty());  // each shows what was saved of it
    CHECK_THROWS_AS(second->load(0, std::vector<std::byte>(3)), DataError);
  }
}

TEST_CASE("a loaded env that is not where it was is named, once") {
  for (const std::size_t workers : {0U, 1U}) {
    const auto first = make(2, workers);
    Driver whole(*first);
    whole.reset();
    whole.step({3, 1});
    whole.step({2, 1});
    ProcessEnv::Options other = options(2, 0);
    other.seed = 200;  // as an env that shows more than its seed and actions
    const auto second = make(other);
    for (std::size_t i = 0; i < 2; ++i) {
      std::vector<std::byte> bytes;
      first->save(i, bytes);
      second->load(i, bytes);
    }
    Driver resumed(*second);
    resumed.step({1, 1}, {0, 1});
    resumed.step({1, 1}, {1, 2});
    const std::vector<Incident> incidents = second->take_incidents();
    REQUIRE(incidents.size() == 1);
    CHECK(incidents[0].message.find("env 0 of toy is not where it was") == 0);
  }
}

TEST_CASE("an env that tells its state is where it was, whatever its actions lead to now") {
  for (const std::size_t workers : {0U, 1U}) {
    ProcessEnv::Options here = options(2, workers);
    here.keeps_state = true;
    const auto first = make(here);
    std::vector<std::byte> of_none;
    first->save(0, of_none);  // before its first episode there is nothing to tell
    Driver whole(*first);
    whole.reset();
    whole.step({3, 1});
    whole.step({2, 1});
    ProcessEnv::Options there = here;
    there.seed = 200;
    const auto second = make(there);
    for (std::size_t i = 0; i < 2; ++i) {
      std::vector<std::byte> bytes;
      first->save(i, bytes);
      second->load(i, bytes);
      std::vector<std::byte> again;
      second->save(i, again);  // not stepped since: what was loaded
      CHECK(again == bytes);
    }
    Driver resumed(*second);
    for (int t = 0; t < 3; ++t) {
      whole.step({1, 4});
      resumed.step({1, 4});
      CHECK(whole.obs == resumed.obs);
    }
    CHECK(whole.obs[0] == 100);
    CHECK(second->take_incidents().empty());
  }
}

TEST_CASE("a state that cannot be read is told, and the actions count") {
  ProcessEnv::Options of = options(1, 0);
  of.keeps_state = true;
  const auto first = make(of);
  Driver whole(*first);
  whole.reset();
  whole.step({3});
  std::vector<std::byte> bytes;
  first->save(0, bytes);
  std::ranges::fill(std::span(bytes).last(5), std::byte{'x'});  // "100 3"
  const auto second = make(of);
  second->load(0, bytes);
  Driver resumed(*second);
  resumed.step({2});
  CHECK(resumed.obs == std::vector<float>{100, 5});
  const std::vector<Incident> told = second->take_incidents();
  REQUIRE(told.size() == 1);
  CHECK(told[0].message == "env 0 of toy: set_state(): it threw");
}

TEST_CASE("threads share workers") {
  const auto envs = make(6, 2);
  Driver driver(*envs);
  driver.reset();
  const auto drive = [&](EnvRange range) {
    for (std::int64_t t = 0; t < 200; ++t) {
      driver.step({1, t == 50 ? 9 : 1, 1, 1, t == 120 ? 9 : 1, 1}, range);
    }
  };
  std::thread other([&] { drive({0, 3}); });  // worker 0's envs and none of worker 1's
  drive({3, 6});
  other.join();
  CHECK(envs->take_incidents().size() == 2);
}

TEST_CASE("a fork of this process has no say over its workers") {
  auto envs = make(2, 2);
  Driver driver(*envs);
  driver.reset();
  driver.step({1, 1});
  std::cout.flush();
  const pid_t fork = ::fork();
  if (fork == 0) {
    envs.reset();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(fork, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
  driver.step({1, 1});
  CHECK(driver.obs[1] == 2);
  CHECK(envs->take_incidents().empty());
}

/// An interpreter that answers with a box of actions up from these points.
struct ToyPython {
  explicit ToyPython(const char* low) {
    std::ofstream(file) << R"(#!/bin/sh
[ "$1 $2 $3" = "-P -m penstock_worker" ] || exit 1
read request <&5
printf '%s%s\n' '{"parts": [{"name": "obs", "shape": [2]}], "step_s": 1e-6, "action": ' \
  '{"kind": "box", "low": )"
                        << low << R"(, "high": [1, 2], "masked": false}}' >&5
)";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  ToyPython(const ToyPython&) = delete;
  ToyPython& operator=(const ToyPython&) = delete;
  ~ToyPython() { std::filesystem::remove(file); }

  [[nodiscard]] std::unique_ptr<EnvFactory> env() const {
    return make_python_env("Flat-v0", {.python = file.string()});
  }

  std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("penstock-flat-" + std::to_string(::getpid()));
};

TEST_CASE("an env of Python whose action has no width is refused with its name and dimension") {
  const ToyPython python("[-1, 2]");
  CHECK_THROWS_WITH_AS(
      static_cast<void>(python.env()->spec()),
      doctest::Contains("env.id = Flat-v0: the env's spec: dimension 1 of the box"), ConfigError);
}

TEST_CASE("an env of Python is what its worker describes") {
  const ToyPython python("[-1, -2]");
  const EnvSpec spec = python.env()->spec();
  CHECK(spec.obs.size() == 2);
  REQUIRE(spec.action.continuous());
  const Box& box = spec.action.box();
  CHECK(box.low == std::vector<float>{-1, -2});
  CHECK(box.high == std::vector<float>{1, 2});
}

TEST_CASE("what holds for an env of Python unless it is told otherwise") {
  const ToyPython python("[-1, -2]");
  const std::unique_ptr<EnvFactory> env = python.env();
  const std::string told = to_toml(env->fields());
  for (const char* line :
       {"kwargs = \"{}\"", "info_keys = \"\"", "num_workers = \"auto\"", "envs_per_worker = 0",
        "start_method = \"auto\"", "max_restarts = 10", "restart_window_s = 3600.0",
        "step_deadline_s = 60.0", "start_deadline_s = 300.0"}) {
    CHECK_MESSAGE(told.find(line) != std::string::npos, line << " in " << told);
  }
}

TEST_CASE("a program that holds no Python has workers for every env of it") {
  const ToyPython python("[-1, -2]");
  const EnvEntry entry{"Flat-v0", "", [&] { return python.env(); }};
  const auto processes = [&](const std::string& assignment, std::size_t num_envs) {
    return with_settings(entry, {assignment}, "--set").make_factory()->num_processes(num_envs);
  };
  CHECK(processes("env.num_workers=auto", 1) == 1);
  CHECK(processes("env.num_workers=3", 2) == 2);
  CHECK(processes("env.envs_per_worker=4", 9) == 3);
  CHECK_THROWS_WITH_AS(processes("env.num_workers=0", 1), doctest::Contains("holds no Python"),
                       ConfigError);
}

TEST_CASE("numbers of the info that are to be averaged are named by the config, up to four") {
  const ToyPython python("[-1, -2]");
  const auto stats = [&](const std::string& keys) {
    const EnvEntry entry{"Flat-v0", "", [&] { return python.env(); }};
    return with_settings(entry, {"env.info_keys=" + keys}, "--set").make_factory()->spec().stats;
  };
  CHECK(stats("").empty());
  CHECK(stats("km, won") == std::vector<std::string>{"km", "won"});
  CHECK_THROWS_WITH_AS(stats("a,b,c,d,e"), doctest::Contains("env.info_keys names 5 keys"),
                       ConfigError);
}

TEST_CASE("names of Python envs") {
  for (const char* id : {"CartPole-v1", "ALE/Pong-v5", "my_pkg:MyEnv-v0", "my_pkg:make_env"}) {
    CHECK(names_python_env(id));
  }
  for (const char* id : {"cartpole", "-v1", "env-v", "env-vx", ""}) {
    CHECK_FALSE(names_python_env(id));
  }
}
