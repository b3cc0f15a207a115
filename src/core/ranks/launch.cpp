#include "penstock/core/ranks/launch.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "penstock/core/base/errors.h"

namespace penstock {
namespace {

constexpr std::size_t kMostRanks = 4'096;

template <class T>
T number(const std::string& text, const std::string& name, T least, T most) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw ConfigError(fmt::format("the environment variable {} is '{}', expected {} to {}", name,
                                  text, least, most));
  }
  return value;
}

/// The two variables of a launcher that make a process one of several.
struct Names {
  const char* rank;
  const char* size;
};

/// Both or none.
std::optional<Launch> read_place(const EnvLookup& lookup, const Names& names) {
  const auto rank = lookup(names.rank);
  const auto size = lookup(names.size);
  if (!rank && !size) { return std::nullopt; }
  if (!rank || !size) {
    throw ConfigError(fmt::format("{} is set and {} is not; set both, or neither for one process",
                                  rank ? names.rank : names.size, rank ? names.size : names.rank));
  }
  Launch launch;
  launch.size = number<std::size_t>(*size, names.size, 1, kMostRanks);
  launch.rank = number<std::size_t>(*rank, names.rank, 0, launch.size - 1);
  return launch;
}

/// Jobs on one node must not meet each other; the job's number tells them apart.
std::uint16_t slurm_port(const EnvLookup& lookup) {
  constexpr std::uint64_t kFirst = 20'000;
  constexpr std::uint64_t kCount = 10'000;
  const auto job = number<std::uint64_t>(lookup("SLURM_JOB_ID").value_or("0"), "SLURM_JOB_ID", 0,
                                         ~std::uint64_t{0});
  const auto step = number<std::uint64_t>(lookup("SLURM_STEP_ID").value_or("0"), "SLURM_STEP_ID", 0,
                                          ~std::uint64_t{0});
  constexpr std::uint64_t kStepsApart = 7;
  return static_cast<std::uint16_t>(kFirst + (job + kStepsApart * step) % kCount);
}

void read_slurm(const EnvLookup& lookup, Launch& launch) {
  if (lookup("SLURM_STEP_NUM_NODES").value_or("1") != "1") {
    launch.address = first_node(lookup("SLURM_STEP_NODELIST").value_or(""));
  }
  launch.port = slurm_port(lookup);
  launch.attempt = lookup("SLURM_RESTART_COUNT").value_or("0");
}

std::optional<Launch> read_launcher(const EnvLookup& lookup) {
  if (auto launch = read_place(lookup, {"RANK", "WORLD_SIZE"})) {
    launch->store_is_there = lookup("TORCHELASTIC_USE_AGENT_STORE").value_or("") == "True";
    launch->attempt = lookup("TORCHELASTIC_RESTART_COUNT").value_or("0");
    return launch;
  }
  if (auto launch = read_place(lookup, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"})) {
    return launch;
  }
  // A batch script has SLURM_PROCID too; only what srun begins is a step with tasks.
  if (!lookup("SLURM_STEP_NUM_TASKS")) { return std::nullopt; }
  auto launch = read_place(lookup, {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"});
  if (launch) { read_slurm(lookup, *launch); }
  return launch;
}

}  // namespace

std::string first_node(const std::string& list) {
  const std::size_t end = list.find_first_of(",[");
  std::string name = list.substr(0, end);
  if (end == std::string::npos || list[end] == ',') { return name; }
  return name + list.substr(end + 1, list.find_first_of(",-]", end) - end - 1);
}

Launch read_launch(const EnvLookup& lookup) {
  std::optional<Launch> launch = read_launcher(lookup);
  if (!launch || launch->size == 1) { return {}; }
  if (const auto address = lookup("MASTER_ADDR")) { launch->address = *address; }
  if (const auto port = lookup("MASTER_PORT")) {
    launch->port = number<std::uint16_t>(*port, "MASTER_PORT", 1, 65'535);
  }
  return *launch;
}

Launch read_launch() {
  return read_launch([](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
  });
}

}  // namespace penstock
