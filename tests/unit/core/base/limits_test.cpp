#include "penstock/core/base/limits.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "penstock/core/base/thread_pool.h"

using namespace penstock;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kMega = 1 << 20;

/// A folder that holds proc and sys as a test wants them.
class Machine {
 public:
  Machine() : root_(fs::temp_directory_path() / ("penstock-limits-" + std::to_string(::getpid()))) {
    fs::remove_all(root_);
    write("proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable:    8000000 kB\n");
    write("proc/self/cgroup", "0::/\n");
    own(1000, 100);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() { fs::remove_all(root_); }

  void write(const fs::path& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  /// Of this process and its user.
  void own(int user, int threads) {
    const std::string status = "Uid:\t" + std::to_string(user) +
                               "\t1\t1\t1\nVmSize:\t  204800 kB\nVmData:\t  102400 kB\nThreads:\t" +
                               std::to_string(threads) + "\n";
    write("proc/self/status", status);
    write("proc/77/status", status);
    write("proc/88/status", "Uid:\t4\t4\t4\t4\nThreads:\t5000\n");
  }
  /// As `ulimit` would set them; a line each.
  void limit(const std::string& lines) {
    write(
        "proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units     \n" + lines);
  }
  [[nodiscard]] Limits limits() const { return Limits(root_); }
  [[nodiscard]] std::string path(const std::string& below) const { return root_ / below; }

 private:
  fs::path root_;
};

}  // namespace

TEST_CASE("without limits the machine's memory is what there is") {
  Machine machine;
  machine.limit("Max address space         unlimited            unlimited            bytes\n");
  CHECK(machine.limits().memory().left == 8'000'000LL * 1024);
  CHECK(machine.limits().memory().limit.empty());
  CHECK(machine.limits().processes().left == Room().left);
  CHECK(std::isinf(machine.limits().cores()));
  CHECK(Limits("/no/such/folder").memory().left == Room().left);
}

TEST_CASE("fault 20: memory: the resource limit that leaves the least is named with its remedy") {
  Machine machine;
  machine.limit(
      "Max data size             629145600            unlimited            bytes     \n"
      "Max address space         524288000            unlimited            bytes     \n");
  const Room room = machine.limits().memory();
  CHECK(room.left == 300 * kMega);  // of 500 MB, 200 MB are mapped
  CHECK(room.limit == "`ulimit -v`");
  CHECK(room.remedy == "`ulimit -v unlimited`");
  machine.limit("Max data size             314572800            unlimited            bytes     \n");
  CHECK(machine.limits().memory().left == 200 * kMega);
  CHECK(machine.limits().memory().limit == "`ulimit -d`");
  machine.limit("Max data size             1000                 unlimited            bytes     \n");
  CHECK(machine.limits().memory().left == 0);
}

TEST_CASE("fault 20: memory: control groups, also those above, without what files take") {
  Machine machine;
  machine.write("proc/self/cgroup", "0::/pod/box\n");
  machine.write("sys/fs/cgroup/pod/box/memory.max", "max\n");
  machine.write("sys/fs/cgroup/pod/box/memory.current", "1000\n");
  CHECK(machine.limits().memory().limit.empty());
  machine.write("sys/fs/cgroup/pod/memory.max", std::to_string(100 * kMega));
  machine.write("sys/fs/cgroup/pod/memory.current", std::to_string(90 * kMega));
  machine.write("sys/fs/cgroup/pod/memory.stat", "anon 7\ninactive_file " +
                                                     std::to_string(30 * kMega) + "\nactive_file " +
                                                     std::to_string(20 * kMega) + "\n");
  const Room room = machine.limits().memory();
  CHECK(room.left == 60 * kMega);
  CHECK(room.limit == machine.path("sys/fs/cgroup/pod/memory.max"));
  CHECK(room.remedy.find("--memory") != std::string::npos);
}

TEST_CASE("fault 20: memory: a container that sees the names of its host") {
  Machine machine;
  machine.write("proc/self/cgroup", "0::/docker/0123abc\n");
  machine.write("sys/fs/cgroup/memory.max", std::to_string(50 * kMega));
  machine.write("sys/fs/cgroup/memory.current", std::to_string(20 * kMega));
  CHECK(machine.limits().memory().left == 30 * kMega);
}

TEST_CASE("control groups of version 1, beside an empty one of version 2") {
  Machine machine;
  machine.write("proc/self/cgroup", "7:pids:/a\n4:memory:/a/b\n2:cpu,cpuacct:/a\n0::/\n");
  machine.write("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
  machine.write("sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "0\n");
  machine.write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", std::to_string(40 * kMega));
  machine.write("sys/fs/cgroup/memory/a/memory.usage_in_bytes", std::to_string(20 * kMega));
  machine.write("sys/fs/cgroup/memory/a/memory.stat",
                "inactive_file 1\ntotal_inactive_file " + std::to_string(5 * kMega) + "\n");
  CHECK(machine.limits().memory().left == 25 * kMega);
  machine.write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "150000\n");
  machine.write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  CHECK(machine.limits().cores() == 1.5);
  machine.write("sys/fs/cgroup/pids/a/pids.max", "20\n");
  machine.write("sys/fs/cgroup/pids/a/pids.current", "5\n");
  CHECK(machine.limits().processes().left == 15);
}

TEST_CASE("fault 21: open files") {
  Machine machine;
  machine.limit("Max open files            16                   16                   files\n");
  for (const char* fd : {"0", "1", "2", "9"}) {
    machine.write(std::string("proc/self/fd/") + fd, "");
  }
  const Room room = machine.limits().open_files();
  CHECK(room.left == 13);  // one of the four is the look itself
  CHECK(room.remedy == "`ulimit -n 4096`");
}

TEST_CASE("fault 21: processes: the user's threads count, and root is not limited") {
  Machine machine;
  machine.limit("Max processes             1000                 1000                 processes\n");
  const Room room = machine.limits().processes();
  CHECK(room.left == 900);
  CHECK(room.limit == "`ulimit -u`");
  machine.own(0, 100);
  CHECK(machine.limits().processes().left == Room().left);
  machine.write("proc/self/cgroup", "0::/box\n");
  machine.write("sys/fs/cgroup/box/pids.max", "64\n");
  machine.write("sys/fs/cgroup/box/pids.current", "60\n");
  CHECK(machine.limits().processes().left == 4);
  CHECK(machine.limits().processes().remedy.find("--pids-limit") != std::string::npos);
}

TEST_CASE("a quota of CPU time, the smallest on the way up") {
  Machine machine;
  machine.write("proc/self/cgroup", "0::/pod/box\n");
  machine.write("sys/fs/cgroup/pod/box/cpu.max", "max 100000\n");
  CHECK(std::isinf(machine.limits().cores()));
  machine.write("sys/fs/cgroup/pod/cpu.max", "250000 100000\n");
  machine.write("sys/fs/cgroup/pod/box/cpu.max", "400000 100000\n");
  CHECK(machine.limits().cores() == 2.5);
}

TEST_CASE("this machine's own files are read") {
  CHECK(Limits().memory().left < Room().left);
  CHECK(Limits().open_files().left > 0);
  CHECK(Limits().cores() > 0);
  CHECK(available_cores() >= 1);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit few{.rlim_cur = 40, .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  CHECK(Limits().open_files().left < 40);
  ::setrlimit(RLIMIT_NOFILE, &before);
}
