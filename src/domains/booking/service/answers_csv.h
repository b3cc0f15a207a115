#pragma once
#include <string>
#include <vector>

#include "penstock/domains/booking/service/store.h"

namespace penstock::booking::service {

/// What customers were shown and took, as `penstock booking backtest` reads it: a row for each
/// slot. Jobs at a longitude and latitude only, which were told with the call.
std::string answers_csv(const std::vector<Store::DatedChoice>& choices);

}  // namespace penstock::booking::service
