#pragma once
#include "penstock/train/catalog.h"

namespace penstock {

/// Every env and network that ships with Penstock.
Catalog default_catalog();

}  // namespace penstock
