// Runs that are killed at any system call of their files, and resumed.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>

#include "penstock/core/base/errors.h"
#include "saving.h"

using namespace penstock;

namespace {

/// Runs it in a child that is killed at its n-th system call on the disk; whether it was.
template <class Life>
bool killed_at(int n, const Life& life) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::atomic<int> calls = 0;
    penstock::detail::fault_hook() = [&](std::string_view, const std::string&) {
      if (++calls == n) { ::kill(::getpid(), SIGKILL); }
      return 0;
    };
    life();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK((WIFEXITED(status) || WTERMSIG(status) == SIGKILL));
  return static_cast<bool>(WIFSIGNALED(status));
}

const saving::Assignments kShort = {"run.save_interval=8", "ppo.policy_epochs=1",
                                    "ppo.value_epochs=1"};

}  // namespace

TEST_CASE("fault 4: a run killed at any system call of its saves goes on to the same bits") {
  const saving::Folder folder;
  const std::string expected = saving::fresh(folder / "whole", kShort)->run(saving::kGoOn).digest;
  saving::fresh(folder / "begun", kShort);
  int n = 1;
  for (bool killed = true; killed; ++n) {
    const std::string dir = folder / "killed";
    saving::fs::remove_all(dir);
    saving::fs::copy(folder / "begun", dir, saving::fs::copy_options::recursive);
    killed = killed_at(n, [&] { saving::resumed(dir)->run(saving::kGoOn); });
    INFO("call ", n);
    CHECK(saving::resumed(dir)->run(saving::kGoOn).digest == expected);
    CHECK(saving::latest(dir) == saving::kUpdates * saving::kUpdate);
    const std::vector<std::int64_t> steps = saving::logged_steps(dir);
    CHECK(steps.size() == saving::kUpdates);
    CHECK(std::ranges::is_sorted(steps));
  }
  CHECK(n > 60);
}

TEST_CASE("fault 3: killed before its first checkpoint, a run starts anew; then it is resumed") {
  const saving::Folder folder;
  const std::string expected = saving::fresh(folder / "whole", kShort)->run(saving::kGoOn).digest;
  int anew = 0;
  int n = 1;
  for (bool killed = true; killed; ++n) {
    const std::string dir = folder / "killed";
    saving::fs::remove_all(dir);
    killed = killed_at(n, [&] { saving::fresh(dir, kShort); });
    INFO("call ", n);
    std::unique_ptr<Run> run;
    try {  // penstock train || penstock resume
      run = saving::fresh(dir, kShort);
      ++anew;
    } catch (const IoError& used) {
      CHECK(used.exit() == Exit::cannot_create);
      run = saving::resumed(dir);
    }
    CHECK(run->run(saving::kGoOn).digest == expected);
  }
  CHECK(anew > 15);  // most of the calls come before the checkpoint has its name
  CHECK(n - 1 > anew);
}

TEST_CASE("fault 3: before the first checkpoint there is nothing to resume, which is said") {
  const saving::Folder folder;
  const std::string dir = folder / "run";
  CHECK(killed_at(18, [&] { saving::fresh(dir, kShort); }));
  CHECK(saving::fs::exists(dir));
  CHECK_THROWS_WITH_AS(saving::resumed(dir),
                       doctest::Contains("nothing to resume yet: the run ended before its first "
                                         "checkpoint; start it anew with the same penstock train"),
                       DataError);
}

TEST_CASE("fault 3: a run whose manifest is missing or torn goes on, and says so") {
  const saving::Folder folder;
  const std::string expected = saving::fresh(folder / "whole")->run(saving::kGoOn).digest;
  for (const bool torn : {false, true}) {
    const std::string dir = folder / (torn ? "torn" : "missing");
    saving::fresh(dir);
    saving::fs::remove(dir + "/manifest.json");
    if (torn) { std::ofstream(dir + "/manifest.json") << R"({"penstock": "0.)"; }
    std::string notes;
    const Settings settings =
        recorded_settings(dir, {}, [&](const std::string& text) { notes += text; });
    CHECK(notes.find("manifest.json is missing or torn") != std::string::npos);
    CHECK(Run::resume(dir, saving::plan_of(settings), {})->run(saving::kGoOn).digest == expected);
  }
}
