#include "penstock/core/store/checkpoint_writer.h"

#include <chrono>
#include <utility>

#include "penstock/core/base/check.h"

namespace penstock {

void CheckpointWriter::begin(Job job) {
  PENSTOCK_CHECK(busy(), ==, false);
  flight_ = std::async(std::launch::async | std::launch::deferred, [this, job = std::move(job)] {
    store_.save(job.step, job.data(), job.best);
  });
}

std::optional<CheckpointWriter::End> CheckpointWriter::poll() {
  const bool ended =
      busy() && flight_.wait_for(std::chrono::seconds(0)) != std::future_status::timeout;
  return ended ? wait() : std::nullopt;
}

std::optional<CheckpointWriter::End> CheckpointWriter::wait() {
  if (!busy()) { return std::nullopt; }
  try {
    std::exchange(flight_, {}).get();
  } catch (...) { return End{std::current_exception()}; }
  return End{};
}

}  // namespace penstock
