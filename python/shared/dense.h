#pragma once
#include <pybind11/numpy.h>

namespace penstock::python {

/// An array of Python as rows of numbers without gaps; copied where it is not that already.
template <class T>
using Dense = pybind11::array_t<T, pybind11::array::c_style | pybind11::array::forcecast>;

}  // namespace penstock::python
