// What is left on disk when a save is killed, fails or loses power.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>

#include "core/store/atomic_file.h"
#include "penstock/core/base/random.h"
#include "penstock/core/store/checkpoint.h"
#include "support.h"

namespace checkpoint_crash_test {

using namespace penstock;
using namespace penstock::test;

namespace {

constexpr int kKilled = 9;
constexpr int kEnd = 0;
const auto kIgnore = [](const std::string&) {};

struct HookGuard {
  explicit HookGuard(detail::FaultHook hook) { detail::fault_hook() = std::move(hook); }
  ~HookGuard() { detail::fault_hook() = nullptr; }
};

// A file system may lack the exchange of two names.
int refused(std::string_view call, bool can_exchange) {
  return call == "exchange" && !can_exchange ? EINVAL : 0;
}

void save(CheckpointStore& store, std::int64_t step) {
  store.save(step, Sample(step).data(), step % 2 == 0);
}

// Runs in a child that ends without a word at its n-th system call.
int save_killed_at(const std::string& dir, std::int64_t step, int n, bool can_exchange) {
  const pid_t child = ::fork();
  if (child == 0) {
    int calls = 0;
    detail::fault_hook() = [&](std::string_view call, const std::string&) {
      if (++calls == n) { ::_exit(kKilled); }
      return refused(call, can_exchange);
    };
    CheckpointStore store(dir, 2);
    save(store, step);
    ::_exit(kEnd);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

void check_named_is_whole(const CheckpointStore& store, const std::string& dir) {
  if (fs::exists(dir + "/LATEST")) {
    CHECK(is_of_one_step(store.load(std::stoll(slurp(dir + "/LATEST")))));
  }
}

}  // namespace

TEST_CASE("fault 4: killed at any system call of a save, LATEST names a whole checkpoint") {
  int n = 1;
  for (bool ended = false; !ended; ++n) {
    const TempDir dir;
    CheckpointStore store(dir / "ckpt", 2);
    for (const std::int64_t step : {1, 2, 3}) { save(store, step); }
    ended = save_killed_at(dir / "ckpt", 4, n, true) == kEnd;
    INFO("call ", n);
    REQUIRE(fs::exists(dir / "ckpt/LATEST"));
    check_named_is_whole(store, dir / "ckpt");
    const Checkpoint loaded = store.load_latest(kIgnore);
    CHECK(loaded.step >= 3);
    CHECK(is_of_one_step(loaded));
    save(store, 5);  // and the next save tidies up
    CHECK(store.load_latest([](const std::string& text) { FAIL_CHECK(text); }).step == 5);
    CHECK(std::none_of(
        fs::directory_iterator(dir / "ckpt"), fs::directory_iterator(),
        [](auto& entry) { return entry.path().filename().string().starts_with(".tmp"); }));
  }
  CHECK(n > 25);  // the hook saw the save
}

TEST_CASE(
    "fault 4: killed at any system call while a step is replaced, with and without exchange") {
  for (const bool can_exchange : {true, false}) {
    for (int n = 1, end = -1; end != kEnd; ++n) {
      const TempDir dir;
      CheckpointStore store(dir / "ckpt", 2);
      for (const std::int64_t step : {2, 3}) { save(store, step); }
      end = save_killed_at(dir / "ckpt", 3, n, can_exchange);
      INFO("call ", n, " exchange ", can_exchange);
      if (can_exchange) { REQUIRE(fs::exists(dir / "ckpt/LATEST")); }
      check_named_is_whole(store, dir / "ckpt");
      CHECK(is_of_one_step(store.load_latest(kIgnore)));
    }
  }
}

TEST_CASE(
    "fault 7: a system call that fails gives an IoError, leaves the old checkpoints, and passes") {
  for (const int error : {ENOSPC, EIO, EROFS, EDQUOT}) {
    for (int n = 1, failed = 1; failed != 0; ++n) {
      const TempDir dir;
      CheckpointStore store(dir / "ckpt", 2);
      save(store, 3);
      {
        int calls = 0;
        const HookGuard guard(
            [&](std::string_view, const std::string&) { return ++calls == n ? error : 0; });
        const std::string message = error_of([&] { save(store, 4); });
        failed = static_cast<int>(!message.empty());
        if (failed != 0) { CHECK(contains(message, std::generic_category().message(error))); }
      }
      check_named_is_whole(store, dir / "ckpt");
      CHECK(store.load_latest(kIgnore).step >= 3);
      save(store, 4);
      CHECK(is_of_one_step(store.load_latest(kIgnore)));
    }
  }
}

TEST_CASE("fault 7: a save that failed gives its space back at once") {
  const TempDir dir;
  CheckpointStore store(dir / "ckpt", 2);
  const HookGuard guard([](std::string_view call, const std::string& path) {
    return call == "write" && path.ends_with("optim.safetensors") ? ENOSPC : 0;
  });
  CHECK(error_of([&] { save(store, 3); }) ==
        dir / "ckpt/.tmp-3/optim.safetensors: cannot write: No space left on device");
  CHECK(!fs::exists(dir / "ckpt/.tmp-3"));
}

TEST_CASE("fault 5: names move only after what they name is on the disk") {
  const TempDir dir;
  CheckpointStore store(dir / "ckpt", 1);
  save(store, 1);
  std::string trace;
  {
    const HookGuard guard([&](std::string_view call, const std::string& path) {
      const std::string line = std::string(call) + " " + path.substr(dir.path().size() + 1) + "\n";
      if (!trace.ends_with(line)) { trace += line; }
      return 0;
    });
    save(store, 2);
  }
  CHECK(trace ==
        "mkdir ckpt/.tmp-2\n"
        "fsync ckpt\n"
        "create ckpt/.tmp-2/model.safetensors\n"
        "write ckpt/.tmp-2/model.safetensors\n"
        "fsync ckpt/.tmp-2/model.safetensors\n"
        "create ckpt/.tmp-2/optim.safetensors\n"
        "write ckpt/.tmp-2/optim.safetensors\n"
        "fsync ckpt/.tmp-2/optim.safetensors\n"
        "create ckpt/.tmp-2/state.json\n"
        "write ckpt/.tmp-2/state.json\n"
        "fsync ckpt/.tmp-2/state.json\n"
        "create ckpt/.tmp-2/MANIFEST.json\n"
        "write ckpt/.tmp-2/MANIFEST.json\n"
        "fsync ckpt/.tmp-2/MANIFEST.json\n"
        "fsync ckpt/.tmp-2\n"
        "rename ckpt/2\n"
        "fsync ckpt\n"
        "create ckpt/.tmp-BEST\n"
        "write ckpt/.tmp-BEST\n"
        "fsync ckpt/.tmp-BEST\n"
        "rename ckpt/BEST\n"
        "fsync ckpt\n"
        "create ckpt/.tmp-LATEST\n"
        "write ckpt/.tmp-LATEST\n"
        "fsync ckpt/.tmp-LATEST\n"
        "rename ckpt/LATEST\n"
        "fsync ckpt\n"
        "rename ckpt/.tmp-old-1\n"
        "remove ckpt/.tmp-old-1\n");
}

/// The step in LATEST, which is replaced as a whole.
static std::int64_t named_by(const std::string& path) {
  std::ifstream file(path);
  std::int64_t step = -1;
  file >> step;
  return step;
}

TEST_CASE("fault 4: kill -9 at any moment of a loop of saves leaves a whole LATEST") {
  const TempDir dir;
  CheckpointStore store(dir / "ckpt", 2);
  constexpr std::size_t kSize = 20'000;
  std::int64_t step = 1;
  const auto start = std::chrono::steady_clock::now();
  store.save(step, Sample(step, kSize).data(), false);
  const std::chrono::duration<double, std::micro> one_save =
      std::chrono::steady_clock::now() - start;
  Random random(11);
  for (int trial = 0; trial < 20; ++trial) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (std::int64_t next = step + 1;; ++next) {
        store.save(next, Sample(next, kSize).data(), next % 3 == 0);
      }
    }
    ::usleep(1000 + static_cast<useconds_t>(random.uniform(0, 5) * one_save.count()));
    // Once at least it is given the time that it needs, however busy the machine.
    while (trial == 0 && named_by(dir / "ckpt/LATEST") == step) { ::usleep(1000); }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    check_named_is_whole(store, dir / "ckpt");
    const Checkpoint loaded = store.load_latest(kIgnore);
    CHECK(is_of_one_step(loaded));
    CHECK(loaded.step >= step);
    step = loaded.step;
  }
  CHECK(step > 1);
}

}  // namespace checkpoint_crash_test
