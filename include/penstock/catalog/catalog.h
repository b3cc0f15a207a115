#pragma once
#include "penstock/procs/python_env.h"
#include "penstock/train/catalog.h"

namespace penstock {

/// Every env, network and domain that ships with Penstock, and Gymnasium's envs by their ids;
/// `host` is for programs that hold a Python.
Catalog default_catalog(const PythonHost& host = {});

}  // namespace penstock
