#pragma once
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace penstock::python {

namespace py = pybind11;

// One function per module; called in the order of the modules' arrows.
void bind_base(py::module_& m);
void bind_env(py::module_& m);
void bind_act(py::module_& m);
void bind_offer(py::module_& m);
void bind_dispatch(py::module_& m);
void bind_selling(py::module_& m);
void bind_cage2(py::module_& m);

}  // namespace penstock::python
