#pragma once
#include <string>

#include "penstock/domains/booking/dispatch/schedule.h"

namespace penstock::booking::dispatch {

/// A plan for people: a line for each vehicle, then its stops.
std::string plan_table(const Schedule& plan);

}  // namespace penstock::booking::dispatch
