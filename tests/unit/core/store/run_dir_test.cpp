#include "penstock/core/store/run_dir.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "core/store/atomic_file.h"
#include "support.h"

using namespace penstock;
using namespace penstock::test;
using Open = RunDir::Open;

namespace {

Exit exit_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) { return error.exit(); }
  return Exit::ok;
}

void log(RunDir& run, std::int64_t step) {
  const std::vector<Metric> metrics{{"rollout/ep_rew_mean", 0.5 * static_cast<double>(step)}};
  run.log(step, metrics);
}

std::string line(int step, const std::string& value) {
  return "{\"step\":" + std::to_string(step) + ",\"rollout/ep_rew_mean\":" + value + "}\n";
}

std::size_t num_event_files(const std::string& path) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(path)) {
    count += entry.path().filename().string().starts_with("events.out.tfevents.") ? 1 : 0;
  }
  return count;
}

}  // namespace

TEST_CASE("a fresh run writes files whole, logs and checkpoints") {
  const TempDir dir;
  RunDir run(dir / "runs/a", Open::fresh);
  run.write("config.toml", "seed = 1\n");
  run.write("config.toml", "seed = 2\n");
  run.write("eval/best.json", "{}");
  CHECK(run.read("config.toml") == "seed = 2\n");
  CHECK(run.read("eval/best.json") == "{}");
  CHECK_THROWS_AS(static_cast<void>(run.read("none")), IoError);
  run.checkpoints().save(1, Sample(1).data(), false);
  CHECK(fs::exists(dir / "runs/a/ckpt/1/MANIFEST.json"));
  CHECK(!fs::exists(dir / "runs/a/.tmp-config.toml"));
}

TEST_CASE("a line holds the step and every metric; what JSON cannot say is null") {
  const TempDir dir;
  RunDir run(dir / "a", Open::fresh);
  const std::vector<Metric> metrics{{"b", 0.1},
                                    {"a", std::numeric_limits<double>::quiet_NaN()},
                                    {"c", -std::numeric_limits<double>::infinity()}};
  run.log(5, metrics);
  CHECK(slurp(dir / "a/metrics.jsonl") == "{\"step\":5,\"b\":0.1,\"a\":null,\"c\":null}\n");
  CHECK(num_event_files(dir / "a") == 1);
}

TEST_CASE("fresh is refused where a run is, resume and read where none is") {
  const TempDir dir;
  CHECK(exit_of([&] { RunDir(dir / "none", Open::resume); }) == Exit::bad_data);
  CHECK(exit_of([&] { RunDir(dir / "none", Open::read); }) == Exit::bad_data);
  CHECK(!fs::exists(dir / "none"));
  { RunDir(dir / "a", Open::fresh); }
  { RunDir(dir / "a", Open::fresh).write("config.toml", ""); }  // the first left nothing of a run
  CHECK(exit_of([&] { RunDir(dir / "a", Open::fresh); }) == Exit::cannot_create);
  CHECK(
      contains(error_of([&] { RunDir(dir / "a", Open::fresh); }), "already holds a run; continue"));
  CHECK(exit_of([&] { RunDir(dir / "a", Open::resume); }) == Exit::ok);
  spill(dir / "file", "");
  CHECK(exit_of([&] { RunDir(dir / "file/b", Open::fresh); }) == Exit::cannot_create);
}

TEST_CASE("one writer at a time, in this process or another; readers are free") {
  const TempDir dir;
  RunDir run(dir / "a", Open::fresh);
  run.write("config.toml", "");
  CHECK(exit_of([&] { RunDir(dir / "a", Open::resume); }) == Exit::cannot_create);
  CHECK(exit_of([&] { RunDir(dir / "a", Open::fresh); }) == Exit::cannot_create);
  CHECK(contains(error_of([&] { RunDir(dir / "a", Open::resume); }), "another process is running"));
  CHECK(exit_of([&] { RunDir(dir / "a", Open::read); }) == Exit::ok);

  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(static_cast<int>(exit_of([&] { RunDir(dir / "a", Open::resume); })));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 73);
}

TEST_CASE("the lock goes with a process that is killed") {
  const TempDir dir;
  const pid_t child = ::fork();
  if (child == 0) {
    RunDir run(dir / "a", Open::fresh);
    run.write("config.toml", "");
    ::_exit(0);  // no destructor
  }
  ::waitpid(child, nullptr, 0);
  CHECK(exit_of([&] { RunDir(dir / "a", Open::resume); }) == Exit::ok);
}

TEST_CASE("reading takes no lock and writes nothing") {
  const TempDir dir;
  fs::create_directory(dir / "a");
  spill(dir / "a/config.toml", "seed = 1\n");
  RunDir run(dir / "a", Open::read);
  CHECK(run.read("config.toml") == "seed = 1\n");
  CHECK(!fs::exists(dir / "a/.lock"));
  CHECK_THROWS_AS(run.write("config.toml", ""), std::logic_error);
  CHECK_THROWS_AS(log(run, 1), std::logic_error);
}

TEST_CASE("rewind drops later and torn lines, and logging goes on behind the rest") {
  const TempDir dir;
  {
    RunDir run(dir / "a", Open::fresh);
    for (const int step : {1, 2, 3}) { log(run, step); }
  }
  const std::string torn = "{\"step\":1,\"rollo" + line(2, "7.0") + "{\"step\":1}";
  spill(dir / "a/metrics.jsonl", slurp(dir / "a/metrics.jsonl") + torn);
  RunDir run(dir / "a", Open::resume);
  run.rewind(2);
  log(run, 4);
  CHECK(slurp(dir / "a/metrics.jsonl") == line(1, "0.5") + line(2, "1.0") + line(4, "2.0"));
  CHECK(num_event_files(dir / "a") == 2);
}

TEST_CASE("rewind before anything was logged is fine") {
  const TempDir dir;
  RunDir run(dir / "a", Open::fresh);
  run.rewind(0);
  CHECK(!fs::exists(dir / "a/metrics.jsonl"));
}

TEST_CASE("a line that a full disk cut short is taken back") {
  const TempDir dir;
  RunDir run(dir / "a", Open::fresh);
  log(run, 1);
  detail::fault_hook() = [](std::string_view, const std::string&) { return ENOSPC; };
  CHECK(contains(error_of([&] { log(run, 2); }), "metrics.jsonl: cannot write: No space left"));
  detail::fault_hook() = nullptr;
  log(run, 3);
  CHECK(slurp(dir / "a/metrics.jsonl") == line(1, "0.5") + line(3, "1.5"));
}
