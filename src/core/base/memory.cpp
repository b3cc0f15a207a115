#include "penstock/core/base/memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace penstock {
namespace {

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();

std::int64_t system_free() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::int64_t kilobytes = 0;
  std::string unit;
  while (file >> name >> kilobytes >> unit) {
    if (name == "MemAvailable:") { return kilobytes * 1024; }
  }
  return kUnknown;
}

std::int64_t number_in(const char* path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  return file >> value ? value : kUnknown;  // "max" is not a number: no limit
}

std::int64_t cgroup_free() {
  const std::int64_t limit = number_in("/sys/fs/cgroup/memory.max");
  const std::int64_t used = number_in("/sys/fs/cgroup/memory.current");
  return limit == kUnknown || used == kUnknown ? kUnknown : std::max<std::int64_t>(0, limit - used);
}

}  // namespace

std::int64_t available_memory() { return std::min(system_free(), cgroup_free()); }

}  // namespace penstock
