#include "penstock/core/store/checkpoint_writer.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <latch>
#include <thread>

#include "core/store/atomic_file.h"
#include "support.h"

namespace checkpoint_writer_test {

using namespace penstock;
using namespace penstock::test;

namespace {

const auto kIgnore = [](const std::string&) {};

CheckpointWriter::Job job_of(const Sample& sample, std::int64_t step) {
  return {.step = step, .data = [&sample] { return sample.data(); }};
}

}  // namespace

TEST_CASE("fault 28: a slow disk holds nobody up, and no second save begins") {
  const TempDir dir;
  CheckpointStore store(dir / "ckpt", 3);
  const Sample sample(1);
  std::latch reached(1);
  std::latch released(1);
  std::atomic<bool> slow = true;
  detail::fault_hook() = [&](std::string_view call, const std::string&) {
    if (call == "fsync" && slow.exchange(false)) {
      reached.count_down();
      released.wait();
    }
    return 0;
  };
  {
    CheckpointWriter writer(store);
    CHECK(!writer.poll());
    writer.begin(job_of(sample, 1));
    reached.wait();  // it stands in the middle of its save, and we go on
    CHECK(writer.busy());
    CHECK(!writer.poll());
    CHECK_THROWS_AS(writer.begin(job_of(sample, 2)), std::logic_error);
    released.count_down();
    const auto end = writer.wait();
    REQUIRE(end);
    CHECK(!end->failure);
    CHECK(!writer.busy());
    CHECK(!writer.wait());
  }
  detail::fault_hook() = nullptr;
  CHECK(store.load_latest(kIgnore).step == 1);
}

TEST_CASE("fault 7: what goes wrong on the writing thread is told on the caller's") {
  const TempDir dir;
  CheckpointStore store(dir / "ckpt", 3);
  const Sample sample(1);
  CheckpointWriter writer(store);
  detail::fault_hook() = [](std::string_view, const std::string&) { return EIO; };
  writer.begin(job_of(sample, 1));
  const auto end = writer.wait();
  detail::fault_hook() = nullptr;
  REQUIRE(end);
  CHECK_THROWS_AS(std::rethrow_exception(end->failure), IoError);
  writer.begin({.step = 2, .data = []() -> CheckpointData { throw DataError("not finite"); }});
  CHECK_THROWS_WITH_AS(std::rethrow_exception(writer.wait()->failure), "not finite", DataError);
  writer.begin(job_of(sample, 1));
  while (!writer.poll()) { std::this_thread::yield(); }
  CHECK(is_of_one_step(store.load_latest(kIgnore)));
}

TEST_CASE("a writer that goes away has finished its save") {
  const TempDir dir;
  CheckpointStore store(dir / "ckpt", 3);
  const Sample sample(1, 100'000);
  { CheckpointWriter(store).begin(job_of(sample, 1)); }
  CHECK(is_of_one_step(store.load_latest(kIgnore)));
}

TEST_CASE("fault 4: killed at any system call of the writing thread, LATEST is whole") {
  int n = 1;
  for (bool ended = false; !ended; ++n) {
    const TempDir dir;
    CheckpointStore store(dir / "ckpt", 2);
    store.save(1, Sample(1).data(), false);
    const pid_t child = ::fork();
    if (child == 0) {
      int calls = 0;
      detail::fault_hook() = [&](std::string_view, const std::string&) {
        if (++calls == n) { ::kill(::getpid(), SIGKILL); }
        return 0;
      };
      const Sample sample(2);
      CheckpointWriter writer(store);
      writer.begin(job_of(sample, 2));
      writer.wait();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ended = WIFEXITED(status);
    INFO("call ", n);
    const Checkpoint loaded = store.load_latest(kIgnore);
    CHECK(is_of_one_step(loaded));
    CHECK(loaded.step >= (ended ? 2 : 1));
    CHECK(is_of_one_step(store.load(std::stoll(slurp(dir / "ckpt/LATEST")))));
  }
  CHECK(n > 20);  // the hook saw the save
}

}  // namespace checkpoint_writer_test
