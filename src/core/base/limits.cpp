#include "penstock/core/base/limits.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

namespace penstock {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kKilobyte = 1024;

std::optional<std::int64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;  // "max" is not a number: no limit
}

/// The number behind a name at the beginning of a line; none where it says "unlimited" or nothing.
std::optional<std::int64_t> number_after(const fs::path& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) { continue; }
    std::istringstream rest(line.substr(name.size()));
    std::int64_t value = 0;
    return rest >> value ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

/// The room with less left.
Room tighter(Room a, Room b) { return b.left < a.left ? std::move(b) : std::move(a); }

Room room_of(std::optional<std::int64_t> most, std::optional<std::int64_t> used, std::string limit,
             std::string remedy) {
  if (!most || !used) { return {}; }
  return {std::max<std::int64_t>(0, *most - *used), std::move(limit), std::move(remedy)};
}

/// The control groups of one controller: that of this process, then those above it.
struct Groups {
  int version = 2;
  std::vector<fs::path> folders;
};

/// Whether a list such as "cpu,cpuacct" holds a name.
bool lists(std::string_view list, std::string_view name) {
  while (list.substr(0, list.find(',')) != name) {
    if (list.find(',') == std::string_view::npos) { return false; }
    list.remove_prefix(list.find(',') + 1);
  }
  return true;
}

/// The folder of this process below `base`, and those above it. A container may see the names of
/// its host but only files of its own: then `base` has them.
std::vector<fs::path> upwards(const fs::path& base, const fs::path& own) {
  std::vector<fs::path> folders;
  fs::path folder = (base / own.relative_path()).lexically_normal();
  for (; folder.string().size() > base.string().size(); folder = folder.parent_path()) {
    folders.push_back(folder);
  }
  folders.push_back(base);
  return folders;
}

Groups groups_of(const fs::path& root, const std::string& controller) {
  const fs::path mount = root / "sys/fs/cgroup";
  Groups found{.version = 2, .folders = {mount}};
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // "4:cpu,cpuacct:/a/b" or "0::/a/b"
    const std::string_view text = line;
    const std::size_t first = text.find(':');
    const std::size_t second = text.find(':', first + 1);
    if (second == std::string_view::npos) { continue; }
    const std::string_view names = text.substr(first + 1, second - first - 1);
    const fs::path own = text.substr(second + 1);
    if (lists(names, controller)) {
      return {.version = 1, .folders = upwards(mount / controller, own)};
    }
    if (names.empty()) { found.folders = upwards(mount, own); }
  }
  return found;
}

/// What the system keeps of files in memory, and gives up when asked.
std::int64_t reclaimable(const fs::path& folder, int version) {
  std::int64_t sum = 0;
  for (const std::string name : {"inactive_file ", "active_file "}) {
    sum += number_after(folder / "memory.stat", version == 1 ? "total_" + name : name).value_or(0);
  }
  return sum;
}

Room room_of_groups_memory(const fs::path& root) {
  const Groups groups = groups_of(root, "memory");
  const char* limit = groups.version == 1 ? "memory.limit_in_bytes" : "memory.max";
  const char* usage = groups.version == 1 ? "memory.usage_in_bytes" : "memory.current";
  Room room;
  for (const fs::path& folder : groups.folders) {
    auto used = number_in(folder / usage);
    if (used) { used = std::max<std::int64_t>(0, *used - reclaimable(folder, groups.version)); }
    room = tighter(std::move(room),
                   room_of(number_in(folder / limit), used, (folder / limit).string(),
                           "a larger `--memory` of docker, `MemoryMax=` of systemd, `--mem` of "
                           "Slurm"));
  }
  return room;
}

std::optional<std::int64_t> own_limit(const fs::path& root, std::string_view name) {
  return number_after(root / "proc/self/limits", name);
}

std::optional<std::int64_t> own_kilobytes(const fs::path& root, std::string_view name) {
  const auto found = number_after(root / "proc/self/status", name);
  return found ? std::optional(*found * kKilobyte) : std::nullopt;
}

Room free_memory(const fs::path& root) {
  const auto kilobytes = number_after(root / "proc/meminfo", "MemAvailable:");
  return kilobytes ? Room{.left = *kilobytes * kKilobyte} : Room{};
}

/// Whether a limit of processes holds for this one: it does not for root.
bool privileged(const fs::path& root) {
  return number_after(root / "proc/self/status", "Uid:") == std::optional<std::int64_t>(0);
}

/// Threads of all processes of the user.
std::optional<std::int64_t> threads_of_user(const fs::path& root) {
  const auto user = number_after(root / "proc/self/status", "Uid:");
  if (!user) { return std::nullopt; }
  std::int64_t sum = 0;
  std::error_code error;
  for (fs::directory_iterator i(root / "proc", error), end; !error && i != end;
       i.increment(error)) {
    const std::string name = i->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) { continue; }
    const fs::path status = i->path() / "status";
    if (number_after(status, "Uid:") == user) {
      sum += number_after(status, "Threads:").value_or(0);
    }
  }
  return sum;
}

}  // namespace

Room Limits::memory() const {
  const Room address_space =
      room_of(own_limit(root_, "Max address space"), own_kilobytes(root_, "VmSize:"), "`ulimit -v`",
              "`ulimit -v unlimited`");
  const Room data = room_of(own_limit(root_, "Max data size"), own_kilobytes(root_, "VmData:"),
                            "`ulimit -d`", "`ulimit -d unlimited`");
  return tighter(tighter(free_memory(root_), room_of_groups_memory(root_)),
                 tighter(address_space, data));
}

Room Limits::open_files() const {
  std::error_code error;
  std::int64_t open = -1;  // the one that looks is gone afterwards
  for (fs::directory_iterator i(root_ / "proc/self/fd", error), end; !error && i != end;
       i.increment(error)) {
    ++open;
  }
  return room_of(own_limit(root_, "Max open files"),
                 error ? std::nullopt : std::optional(std::max<std::int64_t>(0, open)),
                 "`ulimit -n`", "`ulimit -n 4096`");
}

Room Limits::processes() const {
  Room room;
  const auto most = own_limit(root_, "Max processes");
  if (most && !privileged(root_)) {
    room = room_of(most, threads_of_user(root_), "`ulimit -u`", "a larger `ulimit -u`");
  }
  for (const fs::path& folder : groups_of(root_, "pids").folders) {
    room = tighter(std::move(room),
                   room_of(number_in(folder / "pids.max"), number_in(folder / "pids.current"),
                           (folder / "pids.max").string(),
                           "a larger `--pids-limit` of docker, `TasksMax=` of systemd"));
  }
  return room;
}

double Limits::cores() const {
  double cores = std::numeric_limits<double>::infinity();
  const Groups groups = groups_of(root_, "cpu");
  for (const fs::path& folder : groups.folders) {
    std::ifstream both(folder / "cpu.max");  // "50000 100000", or "max 100000"
    double quota = -1;
    double period = 0;
    if (groups.version == 1) {
      quota = static_cast<double>(number_in(folder / "cpu.cfs_quota_us").value_or(-1));
      period = static_cast<double>(number_in(folder / "cpu.cfs_period_us").value_or(0));
    } else {
      both >> quota >> period;
    }
    if (quota > 0 && period > 0) { cores = std::min(cores, quota / period); }
  }
  return cores;
}

}  // namespace penstock
