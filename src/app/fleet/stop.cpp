#include <chrono>
#include <csignal>
#include <thread>

#include "app/fleet/processes.h"
#include "penstock/app/fleet/fleet.h"

namespace penstock::fleet {

bool stop_fleet(const Folder& folder) {
  using namespace std::chrono_literals;
  const auto holder = detail::Claim::holder(folder.path());
  if (holder) { kill(*holder, SIGTERM); }
  // Slurm asks each task to end and, after its KillWait, ends it.
  const std::vector<std::string> jobs = folder.batch_jobs();
  if (!jobs.empty()) {
    std::vector<std::string> words = {"scancel"};
    words.insert(words.end(), jobs.begin(), jobs.end());
    detail::ask(words);
  }
  while (detail::Claim::holder(folder.path()) == holder && holder) {
    std::this_thread::sleep_for(50ms);
  }
  return holder || !jobs.empty();
}

}  // namespace penstock::fleet
