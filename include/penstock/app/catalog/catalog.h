#pragma once
#include "penstock/core/train/catalog.h"

namespace penstock {

struct PythonHost;

/// Every env, network, algorithm and domain that ships with Penstock, and Gymnasium's envs by their
/// ids.
Catalog default_catalog();
/// The same in a program that holds a Python.
Catalog default_catalog(const PythonHost& host);

}  // namespace penstock
