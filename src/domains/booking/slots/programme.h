#pragma once
#include <memory>

#include "penstock/domains/booking/slots/sellers.h"

namespace penstock::booking {

/// After Klein et al. (2018): a linear programme of the rest of the horizon says what vehicles'
/// time is worth; a sale costs its insertion and what the programme's value falls by.
std::unique_ptr<SlotSeller> make_programme_seller();

}  // namespace penstock::booking
