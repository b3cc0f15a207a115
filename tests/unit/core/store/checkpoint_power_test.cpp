// What a disk holds after the power is lost in the middle of a save: only what was synced.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <map>

#include "core/store/atomic_file.h"
#include "penstock/core/store/checkpoint.h"
#include "support.h"

namespace checkpoint_power_test {

using namespace penstock;
using namespace penstock::test;

namespace {

ino_t inode_of(const std::string& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_ino;
}

/// The disk as it survives: pages and names as they were when they were synced last.
class SyncedDisk {
 public:
  void sync(const std::string& path) {
    if (!fs::is_directory(path)) {
      pages_[inode_of(path)] = slurp(path);
      return;
    }
    Names& names = names_[inode_of(path)];
    names = live_names(path);
  }
  /// Names that were not synced are lost.
  void without_names(const std::string& live, const std::string& place) const {
    restore(inode_of(live), place);
  }
  /// All names have made it, as a file system may choose, but pages that were not synced have not.
  void without_pages(const std::string& live, const std::string& place) const {
    fs::create_directory(place);
    for (const auto& [name, entry] : live_names(live)) {
      if (entry.is_folder) {
        without_pages(live + "/" + name, place + "/" + name);
      } else {
        spill(place + "/" + name, pages_of(entry.inode));
      }
    }
  }

 private:
  struct Entry {
    ino_t inode = 0;
    bool is_folder = false;
  };
  using Names = std::map<std::string, Entry>;

  static Names live_names(const std::string& path) {
    Names names;
    for (const auto& entry : fs::directory_iterator(path)) {
      names[entry.path().filename()] = {inode_of(entry.path()), entry.is_directory()};
    }
    return names;
  }
  void restore(ino_t folder, const std::string& place) const {
    fs::create_directory(place);
    const auto names = names_.find(folder);
    if (names == names_.end()) { return; }
    for (const auto& [name, entry] : names->second) {
      if (entry.is_folder) {
        restore(entry.inode, place + "/" + name);
      } else {
        spill(place + "/" + name, pages_of(entry.inode));
      }
    }
  }
  [[nodiscard]] std::string pages_of(ino_t inode) const {
    const auto found = pages_.find(inode);
    return found == pages_.end() ? "" : found->second;
  }

  std::map<ino_t, std::string> pages_;
  std::map<ino_t, Names> names_;
};

void check_whole(const std::string& place, std::int64_t least) {
  const CheckpointStore survivor(place, 2);
  REQUIRE(fs::exists(place + "/LATEST"));
  CHECK(is_of_one_step(survivor.load(std::stoll(slurp(place + "/LATEST")))));
  const Checkpoint loaded = survivor.load_latest([](const std::string&) {});
  CHECK(is_of_one_step(loaded));
  CHECK(loaded.step >= least);
}

}  // namespace

TEST_CASE("fault 5: a power loss at any system call of a save leaves a whole LATEST") {
  const TempDir dir;
  const std::string live = dir / "ckpt";
  CheckpointStore store(live, 2);
  SyncedDisk disk;
  bool watched = false;
  int calls = 0;
  detail::fault_hook() = [&](std::string_view call, const std::string& path) {
    if (watched) {
      const std::string place = dir / ("after-" + std::to_string(++calls));
      INFO("before call ", calls, ": ", call, " ", path);
      disk.without_names(live, place + "-names");
      check_whole(place + "-names", 3);
      disk.without_pages(live, place + "-pages");
      check_whole(place + "-pages", 3);
    }
    if (call == "fsync") { disk.sync(path); }
    return 0;
  };
  for (const std::int64_t step : {1, 2, 3}) { store.save(step, Sample(step).data(), true); }
  watched = true;
  store.save(4, Sample(4).data(), true);
  detail::fault_hook() = nullptr;
  CHECK(calls > 25);
  disk.without_names(live, dir / "end");
  check_whole(dir / "end", 4);
}

}  // namespace checkpoint_power_test
