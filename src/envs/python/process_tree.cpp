#include "envs/python/process_tree.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>

#include "penstock/core/base/stopwatch.h"

namespace penstock::detail {
namespace {

constexpr double kMostS = 2;  // for processes to end that were killed
constexpr auto kPause = std::chrono::milliseconds(5);

/// None when there is no such process, or nothing but its exit status is left.
std::optional<ProcessEntry> entry_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) { return std::nullopt; }
  const std::size_t name_end = text.rfind(')');  // a name may hold anything
  if (name_end == std::string::npos) { return std::nullopt; }
  ProcessEntry entry{.pid = pid};
  char state = 0;
  unsigned long long started = 0;
  // Fields 3, 4 and 22 of proc(5).
  const int read = std::sscanf(text.c_str() + name_end + 1,
                               " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                               "%*s %*s %*s %llu",
                               &state, &entry.parent, &started);
  entry.started = started;
  const bool ended = state == 'Z' || state == 'X';
  return read == 3 && !ended ? std::optional(entry) : std::nullopt;
}

std::unordered_multimap<pid_t, ProcessEntry> living_by_parent() {
  std::unordered_multimap<pid_t, ProcessEntry> found;
  std::error_code error;
  for (std::filesystem::directory_iterator i("/proc", error), end; !error && i != end;
       i.increment(error)) {
    const std::string name = i->path().filename().string();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc()) {
      continue;
    }
    if (const auto entry = entry_of(pid)) { found.emplace(entry->parent, *entry); }
  }
  return found;
}

/// Until nothing is left: what is killed may have started something meanwhile. `valid` says, after
/// a look, whether the number was still that of the process meant.
void end_below(pid_t root, const std::function<bool()>& valid) {
  const Stopwatch watch;
  do {
    const std::vector<ProcessEntry> found = living_below(root);
    if (found.empty() || !valid()) { return; }
    std::ranges::for_each(found, kill_process);
    std::this_thread::sleep_for(kPause);
  } while (watch.seconds() < kMostS);
}

}  // namespace

std::vector<ProcessEntry> living_below(pid_t root) {
  const auto by_parent = living_by_parent();
  std::vector<ProcessEntry> found;
  const auto add_children_of = [&](pid_t parent) {
    const auto [first, last] = by_parent.equal_range(parent);
    std::for_each(first, last, [&](const auto& child) { found.push_back(child.second); });
  };
  add_children_of(root);
  std::size_t next = 0;
  while (next < found.size()) { add_children_of(found[next++].pid); }  // it grows meanwhile
  return found;
}

void kill_process(const ProcessEntry& process) {
  // First held, then looked at: from here on the number cannot become another's.
  const Process held(process.pid, ::syscall(SYS_pidfd_open, process.pid, 0));
  const auto now = entry_of(process.pid);
  if (now && now->started == process.started) { held.kill(); }
}

void end_below_this_process() {
  end_below(::getpid(), [] { return true; });
}

void end_tree(const Process& process) {
  process.send(SIGSTOP);  // so that it starts nothing more
  end_below(process.pid(), [&] { return process.running(); });
  if (process.running()) { ::kill(-process.pid(), SIGKILL); }
  process.kill();
}

}  // namespace penstock::detail
