#include "bind.h"

PYBIND11_MODULE(_core, m) {
  namespace python = penstock::python;
  m.doc() = "The C++ side of training. Use the names of the package penstock instead.";
  // Its errors and settings are those of this module too.
  pybind11::module_::import("penstock._base");
  python::bind_nn(m);
  python::bind_train(m);
  python::bind_cli(m);
}
