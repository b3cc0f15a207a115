#pragma once
#include <string>

#include "penstock/envs/python/python_env.h"

namespace penstock::python {

/// This interpreter as a host of envs. `pickled`: a factory in base64 that the env's id stands for;
/// empty: the id says it all.
PythonHost host_here(const std::string& pickled = "");

}  // namespace penstock::python
