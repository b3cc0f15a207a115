#include "domains/booking/service/fleet.h"

#include <fmt/format.h>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/text_file.h"

namespace penstock::booking::service {
namespace {

constexpr std::size_t kMostFleetBytes = 64'000'000;

dispatch::Problem read_fleet(const std::string& file) {
  dispatch::Problem fleet = dispatch::read_problem(read_text(file, kMostFleetBytes), file);
  if (!fleet.tasks.empty()) {
    throw DataError(fmt::format("{}: has jobs or shipments; a fleet has none: book them", file));
  }
  if (fleet.dates) {
    throw DataError(
        fmt::format("{}: has dates; a fleet serves any day: give times as \"HH:MM\"", file));
  }
  return fleet;
}

}  // namespace

Fleet::Fleet(const std::string& file, bool forecast)
    : problem_(read_fleet(file)), scratch_(problem_) {
  if (forecast) { forecast_ = selling::required_forecast(read_text(file, kMostFleetBytes), file); }
}

dispatch::Request Fleet::read(const Wish& wish) const {
  const std::lock_guard lock(mutex_);
  scratch_.skills = problem_.skills;
  return dispatch::read_request(wish.task, wish.is_job ? "request: job" : "request: shipment",
                                scratch_);
}

}  // namespace penstock::booking::service
