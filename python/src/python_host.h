#pragma once
#include <string>

#include "bind.h"
#include "penstock/app/catalog/catalog.h"

namespace penstock::python {

/// The catalog with this interpreter as a host of envs. `pickled`: a factory in base64 that the
/// env's id stands for; empty: the id says it all.
Catalog catalog_here(const std::string& pickled = "");

}  // namespace penstock::python
