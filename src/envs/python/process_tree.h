#pragma once
#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "penstock/envs/python/process.h"

namespace penstock::detail {

/// A process as /proc tells of it. Its number may be given to another one later; the number and the
/// time of its start together are not.
struct ProcessEntry {
  pid_t pid = 0;
  pid_t parent = 0;
  std::uint64_t started = 0;  // ticks since the system's start
};

/// All living processes below one: its children, their children and so on. None of them comes
/// before its parent. Empty where /proc cannot be read.
std::vector<ProcessEntry> living_below(pid_t root);

/// SIGKILL, unless the number is another process's by now.
void kill_process(const ProcessEntry& process);

/// Kills all that is below this process, until nothing is left or two seconds have passed. May be
/// called from any thread.
void end_below_this_process();

/// Kills a process with all below it and with the group that it leads. Returns when what was below
/// it has ended, or after two seconds; see Process::ended_within() for the process itself.
void end_tree(const Process& process);

}  // namespace penstock::detail
