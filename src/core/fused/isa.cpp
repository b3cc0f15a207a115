#include "penstock/core/fused/isa.h"

#include <algorithm>
#include <cstdint>

#include "core/fused/targets.h"
// After the list of targets.
#include <hwy/highway.h>

#include "penstock/core/base/errors.h"

namespace penstock::fused {
namespace {

struct Isa {
  const char* name;
  std::int64_t target;
};

// Best first.
constexpr Isa kIsas[] = {{"avx512", HWY_AVX3},
                         {"avx2", HWY_AVX2},
                         {"sse4", HWY_SSE4},
                         {"neon", HWY_NEON},
                         {"generic", HWY_STATIC_TARGET}};

/// What was compiled and the machine has.
std::int64_t usable() {
  hwy::SetSupportedTargetsForTest(0);
  return (hwy::SupportedTargets() | HWY_STATIC_TARGET) & HWY_TARGETS;
}

void choose(std::int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace

std::vector<std::string> supported_isas() {
  const std::string now = current_isa();
  std::int64_t left = usable();
  use_isa(now);
  std::vector<std::string> names;
  for (const Isa& isa : kIsas) {
    if ((isa.target & left) == 0) { continue; }
    names.emplace_back(isa.name);
    left &= ~isa.target;  // the baseline may have a name of its own
  }
  return names;
}

std::string current_isa() {
  // The lowest bit of those left is the best of them.
  const std::int64_t targets = (hwy::SupportedTargets() | HWY_STATIC_TARGET) & HWY_TARGETS;
  const std::int64_t best = targets & -targets;
  for (const Isa& isa : kIsas) {
    if (isa.target == best) { return isa.name; }
  }
  return "generic";
}

void use_isa(const std::string& name) {
  const std::int64_t before = hwy::SupportedTargets();
  const std::int64_t targets = usable();
  if (name == "auto") { return choose(targets); }
  std::string there;
  for (const Isa& isa : kIsas) {
    if ((isa.target & targets) == 0) { continue; }
    if (name == isa.name) { return choose(isa.target); }
    there += std::string(there.empty() ? "" : ", ") + isa.name;
  }
  choose(before);
  throw ConfigError("isa = " + name + ": this machine has " + there + ", or say auto");
}

}  // namespace penstock::fused
