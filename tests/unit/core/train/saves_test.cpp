// Saves beside training: what happens when the disk is slow, full, or gone.
#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <latch>

#include "core/train/saver.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/store/safetensors.h"
#include "saving.h"

using namespace penstock;

namespace {

constexpr int kErrors[] = {ENOSPC, EIO, EROFS, EDQUOT};

bool in_checkpoints(const std::string& path) { return path.find("/ckpt/") != std::string::npos; }

bool in_logs(const std::string& path) {
  return path.find("metrics.jsonl") != std::string::npos ||
         path.find("events.out") != std::string::npos;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The message of the IoError that it must throw.
template <class Action>
std::string io_error_of(const Action& action) {
  try {
    action();
  } catch (const IoError& error) {
    CHECK(error.exit() == Exit::failed);
    return error.what();
  }
  FAIL("no IoError");
  return "";
}

}  // namespace

TEST_CASE("fault 28: training goes on beside a slow save, and the newest state is the next saved") {
  const saving::Folder folder;
  std::latch reached(1);
  std::latch released(1);
  std::atomic<int> fsyncs = 0;
  std::atomic<int> in_flight = 0;
  std::atomic<int> most_in_flight = 0;
  const int of_first = [&] {
    int count = 0;
    const saving::Disk disk([&](std::string_view call, const std::string&) {
      count += call == "fsync" ? 1 : 0;
      return 0;
    });
    saving::fresh(folder / "counted");
    return count;
  }();
  saving::Said said;
  RunListener listener = said.listener();
  std::int64_t updates = 0;
  std::int64_t updates_beside = 0;
  listener.logged = [&](const Progress&, const Metrics&) {
    ++updates;
    if (updates == 2) { reached.wait(); }  // the save after update 1 stands still from here on
    if (updates == 9) {
      updates_beside = updates;
      released.count_down();
    }
  };
  std::string digest;
  {
    const saving::Disk disk([&](std::string_view call, const std::string& path) {
      if (call == "mkdir" && says(path, ".tmp-")) {
        most_in_flight = std::max(most_in_flight.load(), ++in_flight);
      }
      if (call == "rename" && path.ends_with("LATEST")) { --in_flight; }
      if (call == "fsync" && ++fsyncs == of_first + 2) {
        reached.count_down();
        released.wait();
      }
      return 0;
    });
    digest = saving::fresh(folder / "slow", {}, listener)->run(saving::kGoOn).digest;
  }
  CHECK(updates_beside == 9);
  CHECK(most_in_flight == 1);
  const std::vector<std::int64_t> saved = said.saved();
  REQUIRE(saved.size() >= 2);
  CHECK(saved[0] == saving::kUpdate);
  CHECK(saved[1] >= 9 * saving::kUpdate);  // not those that fell due meanwhile
  CHECK(saved.back() == saving::kUpdates * saving::kUpdate);
  CHECK(saving::latest(folder / "slow") == saving::kUpdates * saving::kUpdate);
  CHECK(digest == saving::expected_digest(folder));
}

TEST_CASE("fault 7: a full disk is told of, training goes on, and saves once there is room") {
  const saving::Folder folder;
  saving::Said said;
  std::atomic<int> tries = 0;
  std::string digest;
  {
    const auto run = saving::fresh(folder / "run", {"run.save_tries=3"}, said.listener());
    const saving::Disk disk([&](std::string_view call, const std::string& path) {
      const bool begins = call == "create" && says(path, "model.safetensors");
      return begins && ++tries <= 2 ? ENOSPC : 0;
    });
    digest = run->run(saving::kGoOn).digest;
  }
  CHECK(tries >= 3);
  CHECK(says(said.notes, "warning: cannot save ckpt/256 (try 1 of 3): "));
  CHECK(says(said.notes, "No space left on device; next try in 1 s"));
  CHECK(says(said.notes, "(try 2 of 3): "));
  CHECK(says(said.notes, "next try in 2 s"));
  CHECK(said.saved().back() == saving::kUpdates * saving::kUpdate);
  CHECK(saving::latest(folder / "run") == saving::kUpdates * saving::kUpdate);
  CHECK(digest == saving::expected_digest(folder));
}

TEST_CASE("fault 7: a disk that refuses for good ends the run, which goes on from the last save") {
  const saving::Folder folder;
  const std::string expected = saving::expected_digest(folder);
  for (const int error : kErrors) {
    const std::string dir = folder / std::to_string(error);
    const auto run = saving::fresh(dir, {"run.save_tries=2"});
    {
      const saving::Disk disk([error](std::string_view, const std::string& path) {
        return in_checkpoints(path) ? error : 0;
      });
      const std::string message = io_error_of([&] { run->run(saving::kGoOn); });
      CHECK(says(message, "2 tries in a row have failed (run.save_tries)"));
      CHECK(says(message, std::generic_category().message(error)));
      CHECK(says(message, "the newest checkpoint is ckpt/0."));
      CHECK(says(message, "penstock resume " + dir));
    }
    CHECK(saving::latest(dir) == 0);
  }
  for (const int error : kErrors) {
    CHECK(saving::resumed(folder / std::to_string(error))->run(saving::kGoOn).digest == expected);
  }
}

TEST_CASE("fault 7: a disk that is full from the start ends the run at once, with the remedy") {
  const saving::Folder folder;
  for (const int error : kErrors) {
    const std::string dir = folder / std::to_string(error);
    {
      const saving::Disk disk([error](std::string_view call, const std::string& path) {
        return call == "write" && in_checkpoints(path) ? error : 0;
      });
      const std::string message = io_error_of([&] { saving::fresh(dir); });
      CHECK(says(message, "the run cannot begin: "));
      CHECK(says(message, std::generic_category().message(error)));
      CHECK(says(message, "another run.dir"));
    }
    saving::Said said;
    CHECK(saving::fresh(dir, {}, said.listener())->run(saving::kGoOn).updates == saving::kUpdates);
    CHECK(says(said.notes, dir + " holds a run that ended before its first checkpoint"));
  }
}

TEST_CASE("fault 7: metrics that cannot be written wait, are told of, and come in order") {
  const saving::Folder folder;
  saving::Said said;
  RunListener listener = said.listener();
  int updates = 0;
  listener.logged = [&](const Progress&, const Metrics&) { ++updates; };
  {
    const saving::Disk disk([&](std::string_view, const std::string& path) {
      return in_logs(path) && updates >= 3 && updates < 9 ? ENOSPC : 0;
    });
    saving::fresh(folder / "run", {}, listener)->run(saving::kGoOn);
  }
  CHECK(says(said.notes, "warning: cannot write metrics: "));
  CHECK(says(said.notes, "the metrics are written again; 0 lines of them are lost"));
  std::vector<std::int64_t> all;
  for (std::int64_t update = 1; update <= saving::kUpdates; ++update) {
    all.push_back(update * saving::kUpdate);
  }
  CHECK(saving::logged_steps(folder / "run") == all);
}

TEST_CASE("fault 7: metrics that the disk never takes are counted at the end") {
  const saving::Folder folder;
  saving::Said said;
  const auto run = saving::fresh(folder / "run", {}, said.listener());
  const saving::Disk disk(
      [](std::string_view, const std::string& path) { return in_logs(path) ? EIO : 0; });
  CHECK(run->run(saving::kGoOn).updates == saving::kUpdates);
  CHECK(says(said.notes, "warning: 16 lines of metrics could not be written: "));
  CHECK(saving::latest(folder / "run") == saving::kUpdates * saving::kUpdate);
}

TEST_CASE("the pauses between tries double, up to a minute") {
  std::vector<double> pauses;
  for (std::int64_t failures = 1; failures <= 9; ++failures) {
    pauses.push_back(penstock::detail::pause_after(failures));
  }
  CHECK(pauses == std::vector<double>{1, 2, 4, 8, 16, 32, 60, 60, 60});
}

TEST_CASE("a save that is asked for is on the disk, and throws at once where it cannot be") {
  const saving::Folder folder;
  const auto run = saving::fresh(folder / "run", {"run.save_interval=0", "run.save_every_s=0"});
  run->engine().sample(run->engine().steps_left());
  run->engine().update();
  {
    const saving::Disk disk([](std::string_view, const std::string&) { return ENOSPC; });
    CHECK(says(io_error_of([&] { run->save(); }), "No space left on device"));
  }
  CHECK(saving::latest(folder / "run") == 0);
  run->save();
  CHECK(saving::latest(folder / "run") == saving::kUpdate);
}

TEST_CASE("a save that failed is not the best, however well it scored") {
  const saving::Folder folder;
  saving::Said said;
  {
    const auto run =
        saving::fresh(folder / "run", {"run.save_tries=2", "env.fatigue=0.1"}, said.listener());
    std::atomic<int> tries = 0;
    const saving::Disk disk([&](std::string_view call, const std::string& path) {
      const bool first = call == "create" && says(path, "model.safetensors") && ++tries == 1;
      return first ? ENOSPC : 0;
    });
    run->run(saving::kGoOn);
  }
  REQUIRE(!said.saved().empty());
  std::int64_t best = -1;
  std::ifstream(folder / "run/ckpt/BEST") >> best;
  CHECK(best == said.saved().front());  // scores only fall
}

TEST_CASE("fault 12: rewards that overflow end the run; rows are dumped, LATEST is from before") {
  const saving::Folder folder;
  saving::Said said;
  const std::string dir = folder / "run";
  {
    const auto run = saving::fresh(dir, {"env.spike_after=100"}, said.listener());  // update 4
    CHECK_THROWS_WITH_AS(run->run(saving::kGoOn), doctest::Contains("not finite 3 times in a row"),
                         Error);
  }
  const std::int64_t last = saving::latest(dir);
  CHECK(last > 0);
  CHECK(last <= 3 * saving::kUpdate);
  CHECK(says(said.notes, "warning: update 4: minibatch 1 was skipped"));
  for (const char* minibatch : {"1", "2", "3"}) {
    const std::string name = "/dump/update-4-minibatch-" + std::string(minibatch) + ".safetensors";
    CHECK(says(said.notes, dir + name));
    const Safetensors dump = Safetensors::read(dir + name);
    CHECK(dump.at("obs").shape == std::vector<std::int64_t>{saving::kUpdate, 1});
    CHECK(dump.at("index").dtype == Dtype::i64);
    CHECK(dump.at("loss").shape == std::vector<std::int64_t>{6});
  }
  // What was saved can be resumed, and comes to the same place.
  CHECK_THROWS_WITH_AS(saving::resumed(dir)->run(saving::kGoOn),
                       doctest::Contains("update 4: the loss or its gradient was not finite"),
                       Error);
  CHECK(saving::latest(dir) <= 3 * saving::kUpdate);
}

TEST_CASE("fault 12: weights that are not finite are never saved") {
  const saving::Folder folder;
  const auto run = saving::fresh(folder / "run");
  Engine& engine = run->engine();
  engine.sample(engine.steps_left());
  engine.update();
  engine.set_weights({{"critic.0.bias", at::full({64}, std::nan(""))}});
  CHECK_THROWS_WITH_AS(run->save(), doctest::Contains("'critic.0.bias' is not finite"), Error);
  CHECK(saving::latest(folder / "run") == 0);
}
