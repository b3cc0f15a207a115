#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace penstock {

/// How this process was started, where it is one of several: what torchrun, srun, mpirun or a shell
/// has written into the environment.
struct Launch {
  std::size_t rank = 0;
  std::size_t size = 1;
  std::string address = "127.0.0.1";  // where rank 0, or the launcher's store, listens
  std::uint16_t port = 29'500;
  bool store_is_there = false;  // the launcher's own, as torchrun's: rank 0 makes none
  std::string attempt = "0";    // of the launcher: processes of an earlier one are not met
  double timeout_s = 120;       // for the others to come, and for each of their answers
};

/// The value of an environment variable, if it is set.
using EnvLookup = std::function<std::optional<std::string>(const char* name)>;

/// Reads, in this order, RANK and WORLD_SIZE (torchrun, a shell), OMPI_COMM_WORLD_*, SLURM_* of a
/// step that srun began; MASTER_ADDR and MASTER_PORT with any of them. One process where none is
/// set. Throws ConfigError for what cannot be.
Launch read_launch(const EnvLookup& lookup);
/// Of this process.
Launch read_launch();

/// The first of Slurm's node list: "n[03-05,9],m1" begins with "n03".
std::string first_node(const std::string& list);

}  // namespace penstock
