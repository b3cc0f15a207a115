#include "penstock/domains/cage2/sim/replay.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "penstock/core/base/errors.h"

namespace penstock::cage2::replay_test {
namespace {

const std::string kData = PENSTOCK_TEST_DATA "/cage2";

TEST_CASE("every recording of the real simulator is replayed step by step") {
  const ReplayReport head = replay_folder(kData);
  CHECK(head.files == 66);
  CHECK(head.episodes == 3320 + 360 + 120);
  CHECK(head.steps == 221'600 + 36'000 + 12'000);
  CHECK(head.observation_mismatches == 0);
  CHECK(head.reward_mismatches == 0);
  // There an undetected session drew a process id that had been reported on that host before, which
  // makes it removable. Process ids are not simulated.
  CHECK(head.field_mismatches == 1);
  REQUIRE(head.examples.size() == 1);
  CHECK(head.examples[0] == "bline-decoyfirst-100.npz, episode 21, step 96: removable sessions");
}

TEST_CASE("recordings of other rules do differ") {
  const std::string file = "/bline-react-100.npz";
  CHECK(replay_file(kData + "/lb" + file, Source::leaderboard).field_mismatches == 0);
  CHECK(replay_file(kData + "/lb" + file, Source::head).field_mismatches > 0);
  CHECK(replay_file(kData + "/dbg" + file, Source::dbg).reward_mismatches == 0);
  CHECK(replay_file(kData + "/dbg" + file, Source::head).reward_mismatches > 0);
}

TEST_CASE("a folder is read by the rules of its name") {
  const ReplayReport board = replay_folder(kData + "/lb");
  CHECK(board.steps == 36'000);
  CHECK(board.observation_mismatches + board.reward_mismatches + board.field_mismatches == 0);
}

TEST_CASE("what is no folder of recordings is refused") {
  CHECK_THROWS_AS(replay_folder(kData + "/nowhere"), UsageError);
  CHECK_THROWS_AS(replay_folder(kData + "/returns"), UsageError);
  CHECK_THROWS_AS(replay_file(kData + "/returns/bline-react.npz", Source::head), DataError);
  CHECK_THROWS_AS(replay_file(kData + "/README.md", Source::head), DataError);
  CHECK_THROWS_AS(replay_file(kData + "/nothing-at-all.npz", Source::head), IoError);
}

}  // namespace
}  // namespace penstock::cage2::replay_test
