#include "penstock/domains/cage2/sim/record.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "penstock/core/base/errors.h"
#include "penstock/domains/cage2/sim/npz.h"
#include "penstock/domains/cage2/sim/scripts.h"

namespace penstock::cage2::record_test {
namespace {

namespace fs = std::filesystem;

/// A folder that goes with the test.
struct Folder {
  fs::path path = fs::temp_directory_path() / "penstock-record-test";
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

void play(Recorder& recorder, Script script, std::uint64_t seed, int steps) {
  ScriptedBlue blue(script);
  blue.reset(seed);
  recorder.reset(seed);
  for (int t = 0; t < steps; ++t) { recorder.step(blue.act(recorder.obs())); }
}

TEST_CASE("what is recorded replays without a difference: all rules, attackers and scripts") {
  const Folder folder;
  for (const Source source : {Source::head, Source::leaderboard, Source::dbg}) {
    for (const char* red : {"bline", "meander", "sleep"}) {
      for (const Script script :
           {Script::sleep, Script::random, Script::react, Script::decoy_first}) {
        CAPTURE(red);
        CAPTURE(static_cast<int>(source));
        CAPTURE(static_cast<int>(script));
        Recorder recorder({.source = source, .red = red});
        for (std::uint64_t seed = 0; seed < 20; ++seed) { play(recorder, script, seed, 100); }
        const std::string file = folder.path / (std::string(red) + "-mine-100.npz");
        recorder.save(file);
        const ReplayReport report = replay_file(file, source);
        CHECK(report.episodes == 20);
        CHECK(report.steps == 2000);
        CHECK(report.observation_mismatches == 0);
        CHECK(report.reward_mismatches == 0);
        CHECK(report.field_mismatches == 0);
      }
    }
  }
}

TEST_CASE("a recording of other rules does not replay") {
  const Folder folder;
  Recorder recorder({.source = Source::dbg, .red = "bline"});
  for (std::uint64_t seed = 0; seed < 5; ++seed) { play(recorder, Script::react, seed, 100); }
  const std::string file = folder.path / "bline-mine-100.npz";
  recorder.save(file);
  const ReplayReport report = replay_file(file, Source::head);
  CHECK(report.reward_mismatches > 0);
}

TEST_CASE("Blue may be shown events by another wrapper than the recorded one") {
  Recorder same({.red = "meander"});
  Recorder other({.red = "meander", .wrapper = "v2"});
  bool differs = false;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    same.reset(seed);
    other.reset(seed);
    ScriptedBlue blue(Script::random);
    blue.reset(seed);
    for (int t = 0; t < 100; ++t) {
      const std::int64_t action = blue.act(same.obs());
      same.step(action);
      other.step(action);
      differs = differs || same.obs() != other.obs();
    }
  }
  CHECK(differs);
}

TEST_CASE("the same episodes are the same bytes, and unequal ones are refused") {
  const Folder folder;
  std::array<std::string, 2> files = {folder.path / "a.npz", folder.path / "b.npz"};
  for (const std::string& file : files) {
    Recorder recorder({.red = "bline"});
    play(recorder, Script::react, 3, 30);
    recorder.save(file);
    play(recorder, Script::react, 4, 31);
    CHECK_THROWS_WITH_AS(recorder.save(file),
                         (file + ": its episodes are not equally long").c_str(), UsageError);
  }
  const Npz first = Npz::read(files[0]);
  const Npz second = Npz::read(files[1]);
  CHECK(first.at("info").items == second.at("info").items);
  CHECK(first.at("seeds")[0] == 3);
  CHECK(first.at("blue").shape == std::vector<std::size_t>{1, 30});
  CHECK(fs::file_size(files[0]) == fs::file_size(files[1]));
}

TEST_CASE("arrays come back from a .npz file as they were") {
  const Folder folder;
  const std::string file = folder.path / "arrays.npz";
  std::vector<std::byte> items(24);
  for (std::size_t i = 0; i < items.size(); ++i) { items[i] = static_cast<std::byte>(i * 37); }
  const std::vector<NpyArray> arrays = {
      {.name = "bytes", .shape = {24}, .items = items},
      {.name = "words", .is_signed = true, .item_size = 2, .shape = {3, 4}, .items = items},
      {.name = "longs", .is_signed = true, .item_size = 8, .shape = {1, 1, 3}, .items = items},
      {.name = "one", .item_size = 8, .shape = {}, .items = {items.begin(), items.begin() + 8}},
      {.name = "none", .item_size = 4, .shape = {0, 5}, .items = {}}};
  save_npz(file, arrays);
  const Npz npz = Npz::read(file);
  REQUIRE(npz.arrays().size() == arrays.size());
  for (const NpyArray& array : arrays) {
    CAPTURE(array.name);
    const NpyArray& read = npz.at(array.name);
    CHECK(read.is_signed == array.is_signed);
    CHECK(read.item_size == array.item_size);
    CHECK(read.shape == array.shape);
    CHECK(read.items == array.items);
  }
  CHECK_THROWS_AS(save_npz(folder.path / "absent" / "file.npz", arrays), IoError);
}

TEST_CASE("more than a reader takes is not written") {
  const Folder folder;
  const std::string file = folder.path / "large.npz";
  const NpyArray large{
      .name = "large", .shape = {65'000'000}, .items = std::vector<std::byte>(65'000'000)};
  CHECK_THROWS_WITH_AS(
      save_npz(file, {large}),
      (file + ": more than 64000000 bytes; record fewer episodes in a file").c_str(), UsageError);
  CHECK(!fs::exists(file));
}

}  // namespace
}  // namespace penstock::cage2::record_test
