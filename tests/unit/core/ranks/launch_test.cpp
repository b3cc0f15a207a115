#include <doctest/doctest.h>

#include <map>

#include "penstock/core/base/errors.h"
#include "penstock/core/ranks/join.h"
#include "penstock/core/ranks/launch.h"

using namespace penstock;

namespace {

Launch launched(const std::map<std::string, std::string>& environment) {
  return read_launch([&](const char* name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  });
}

}  // namespace

TEST_CASE("a process without a launcher is alone, and so is the only one of a launcher") {
  CHECK(launched({}).size == 1);
  CHECK(launched({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_PORT", "7"}}).size == 1);
  CHECK(launched({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}).size == 1);
}

TEST_CASE("RANK and WORLD_SIZE, as a shell or torchrun sets them") {
  const Launch plain = launched(
      {{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "10.0.0.7"}, {"MASTER_PORT", "4711"}});
  CHECK(plain.rank == 3);
  CHECK(plain.size == 4);
  CHECK(plain.address == "10.0.0.7");
  CHECK(plain.port == 4711);
  CHECK_FALSE(plain.store_is_there);
  const Launch torchrun = launched({{"RANK", "1"},
                                    {"WORLD_SIZE", "2"},
                                    {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                                    {"TORCHELASTIC_RESTART_COUNT", "2"}});
  CHECK(torchrun.address == "127.0.0.1");
  CHECK(torchrun.port == 29500);
  CHECK(torchrun.store_is_there);
  CHECK(torchrun.attempt == "2");
}

TEST_CASE("Open MPI's variables") {
  const Launch launch = launched({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
  CHECK(launch.rank == 1);
  CHECK(launch.size == 2);
}

TEST_CASE("Slurm's variables of a step, not those of a batch script") {
  CHECK(launched({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "9"}}).size == 1);
  const std::map<std::string, std::string> step = {
      {"SLURM_PROCID", "2"},         {"SLURM_STEP_NUM_TASKS", "4"},
      {"SLURM_STEP_NUM_NODES", "2"}, {"SLURM_STEP_NODELIST", "node[07-08]"},
      {"SLURM_JOB_ID", "123456"},    {"SLURM_STEP_ID", "0"},
      {"SLURM_RESTART_COUNT", "1"}};
  const Launch launch = launched(step);
  CHECK(launch.rank == 2);
  CHECK(launch.size == 4);
  CHECK(launch.address == "node07");
  CHECK(launch.attempt == "1");
  auto other = step;
  other["SLURM_JOB_ID"] = "123457";
  CHECK(launched(other).port != launch.port);
  auto here = step;
  here["SLURM_STEP_NUM_NODES"] = "1";
  CHECK(launched(here).address == "127.0.0.1");
}

TEST_CASE("the first of Slurm's nodes") {
  CHECK(first_node("n1") == "n1");
  CHECK(first_node("n1,n2") == "n1");
  CHECK(first_node("n[03-05,9],m1") == "n03");
  CHECK(first_node("rack1-n[12,14]") == "rack1-n12");
}

TEST_CASE("what cannot be is refused by name") {
  CHECK_THROWS_WITH_AS(launched({{"RANK", "0"}}), doctest::Contains("WORLD_SIZE is not"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(launched({{"RANK", "2"}, {"WORLD_SIZE", "2"}}),
                       doctest::Contains("RANK is '2', expected 0 to 1"), ConfigError);
  CHECK_THROWS_AS(launched({{"RANK", "x"}, {"WORLD_SIZE", "2"}}), ConfigError);
  CHECK_THROWS_AS(launched({{"RANK", "0"}, {"WORLD_SIZE", "0"}}), ConfigError);
  CHECK_THROWS_AS(launched({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "70000"}}),
                  ConfigError);
}

TEST_CASE("an address beyond this machine needs the user's word") {
  Launch launch{.rank = 1, .size = 2, .address = "192.0.2.1"};
  CHECK_THROWS_WITH_AS((void)join(launch, Reach::this_machine),
                       doctest::Contains("--insecure-network"), ConfigError);
}
