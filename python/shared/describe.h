#pragma once
#include <pybind11/pybind11.h>

#include "penstock/core/env/spec.h"

namespace penstock::python {

namespace py = pybind11;

/// Layout and actions as plain values: what the package makes spaces of.
py::dict describe(const EnvSpec& spec);

}  // namespace penstock::python
