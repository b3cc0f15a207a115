#include "bind.h"

PYBIND11_MODULE(_core, m) {
  namespace python = penstock::python;
  m.doc() = "The C++ side of Penstock. Use the names of the package penstock instead.";
  python::bind_base(m);
  python::bind_env(m);
  python::bind_nn(m);
  python::bind_train(m);
  python::bind_catalog(m);
  python::bind_cli(m);
}
