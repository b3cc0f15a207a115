#pragma once
#include "penstock/core/env/env_catalog.h"
#include "penstock/envs/python/python_env.h"

namespace penstock {

/// Every env that ships with Penstock, and Gymnasium's envs by their ids. `host`: of a program that
/// holds a Python.
EnvCatalog default_envs(const PythonHost& host = {});

}  // namespace penstock
