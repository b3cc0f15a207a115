#include "penstock/domains/booking/dispatch/schedule.h"
namespace penstock::booking::dispatch {
bool Schedule::improve(std::int64_t, std::uint64_t) { return false; }
}  // namespace penstock::booking::dispatch
