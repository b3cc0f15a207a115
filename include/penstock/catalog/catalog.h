#pragma once
#include "penstock/train/catalog.h"

namespace penstock {

/// Every env, network and domain that ships with Penstock.
Catalog default_catalog();

}  // namespace penstock
