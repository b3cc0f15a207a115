#include "penstock/core/store/run_dir.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "core/store/atomic_file.h"
#include "support.h"

namespace run_dir_test {

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
  { RunDir(dir / "a", Open::fresh).checkpoints().save(0, Sample(0).data(), false); }
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

TEST_CASE("rewind copies a log of many blocks, and nothing of lines that no run writes") {
  const TempDir dir;
  RunDir run(dir / "a", Open::fresh);
  log(run, 1);
  std::string many;
  for (int i = 0; i < 10'000; ++i) { many += line(1, std::to_string(i)); }
  const std::string endless = "{\"step\":1,\"x\":\"" + std::string(3'000'000, 'x') + "\"}\n";
  spill(dir / "a/metrics.jsonl", many + endless + many);
  run.rewind(2);
  CHECK(slurp(dir / "a/metrics.jsonl") == many + many);
  fs::remove(dir / "a/metrics.jsonl");
  REQUIRE(::mkfifo((dir / "a/metrics.jsonl").c_str(), 0600) == 0);
  CHECK_THROWS_AS(run.rewind(2), IoError);
}

TEST_CASE("rewind before anything was logged is fine") {
  const TempDir dir;
  RunDir run(dir / "a", Open::fresh);
  run.rewind(0);
  CHECK(!fs::exists(dir / "a/metrics.jsonl"));
}

TEST_CASE(
    "fault 3: a run that ended before its first checkpoint starts anew, and is none to resume") {
  const TempDir dir;
  {
    RunDir run(dir / "a", Open::fresh);
    CHECK(!run.begun_before());
  }
  CHECK(contains(error_of([&] { RunDir(dir / "a", Open::resume); }), "nothing to resume yet"));
  { RunDir(dir / "a", Open::fresh).write("config.toml", "seed = 1\n"); }
  fs::create_directories(dir / "a/ckpt/.tmp-0");  // the rest of a save
  {
    RunDir again(dir / "a", Open::fresh);
    CHECK(again.begun_before());
    again.checkpoints().save(0, Sample(0).data(), false);
  }
  CHECK(exit_of([&] { RunDir(dir / "a", Open::fresh); }) == Exit::cannot_create);
}

TEST_CASE("fault 3: a first save that all but ended can be gone on with, and be begun anew") {
  const TempDir dir;
  RunDir(dir / "a", Open::fresh).checkpoints().save(0, Sample(0).data(), false);
  fs::rename(dir / "a/ckpt/LATEST", dir / "a/ckpt/.tmp-LATEST");  // killed before its last step
  CHECK(RunDir(dir / "a", Open::resume).checkpoints().load_latest([](auto&) {}).step == 0);
  {
    RunDir again(dir / "a", Open::fresh);  // as scripts do that look for LATEST
    CHECK(again.begun_before());
    again.checkpoints().save(0, Sample(0).data(), false);
  }
  CHECK(exit_of([&] { RunDir(dir / "a", Open::fresh); }) == Exit::cannot_create);
  // Of a later step it is what somebody has kept of a run.
  fs::rename(dir / "a/ckpt/0", dir / "a/ckpt/7");
  fs::remove(dir / "a/ckpt/LATEST");
  CHECK(exit_of([&] { RunDir(dir / "a", Open::fresh); }) == Exit::cannot_create);
}

TEST_CASE("a log without checkpoints is a run that somebody has thinned out, and stays") {
  const TempDir dir;
  { log(*std::make_unique<RunDir>(dir / "a", Open::fresh), 1); }
  CHECK(exit_of([&] { RunDir(dir / "a", Open::fresh); }) == Exit::cannot_create);
}

TEST_CASE("a folder that is not ours is refused and left as it is") {
  const TempDir dir;
  fs::create_directory(dir / "project");
  spill(dir / "project/config.toml", "mine = true\n");
  for (int time = 0; time < 2; ++time) {
    CHECK(exit_of([&] { RunDir(dir / "project", Open::fresh); }) == Exit::cannot_create);
  }
  CHECK(slurp(dir / "project/config.toml") == "mine = true\n");
  CHECK(!fs::exists(dir / "project/.lock"));
}

TEST_CASE("fault 7: lines that the disk refuses wait, and come in order once it takes them") {
  for (const int error : {ENOSPC, EIO, EROFS, EDQUOT}) {
    const TempDir dir;
    RunDir run(dir / "a", Open::fresh);
    log(run, 1);
    CHECK(run.log_state().error.empty());
    detail::fault_hook() = [error](std::string_view, const std::string&) { return error; };
    log(run, 2);
    log(run, 3);
    CHECK(contains(run.log_state().error, std::generic_category().message(error)));
    CHECK(run.log_state().waiting == 2);
    detail::fault_hook() = nullptr;
    CHECK(slurp(dir / "a/metrics.jsonl") == line(1, "0.5"));
    log(run, 4);
    CHECK(run.log_state().error.empty());
    CHECK(run.log_state().waiting == 0);
    CHECK(slurp(dir / "a/metrics.jsonl") ==
          line(1, "0.5") + line(2, "1.0") + line(3, "1.5") + line(4, "2.0"));
  }
}

TEST_CASE("fault 7: of lines that wait too long the oldest are dropped and counted") {
  const TempDir dir;
  RunDir run(dir / "a", Open::fresh);
  detail::fault_hook() = [](std::string_view, const std::string&) { return ENOSPC; };
  for (int step = 0; step < 10'003; ++step) { log(run, step); }
  detail::fault_hook() = nullptr;
  CHECK(run.log_state().waiting == 10'000);
  CHECK(run.log_state().lost == 3);
  run.flush_log();
  CHECK(run.log_state().waiting == 0);
  CHECK(slurp(dir / "a/metrics.jsonl").starts_with("{\"step\":3,"));
}

TEST_CASE("fault 7: a disk that takes names but no bytes is not filled with names") {
  const TempDir dir;
  RunDir run(dir / "a", Open::fresh);
  detail::fault_hook() = [](std::string_view call, const std::string&) {
    return call == "write" ? ENOSPC : 0;
  };
  for (const int step : {1, 2, 3}) { log(run, step); }
  detail::fault_hook() = nullptr;
  CHECK(num_event_files(dir / "a") == 0);
  run.flush_log();
  CHECK(num_event_files(dir / "a") == 1);
}

}  // namespace run_dir_test
