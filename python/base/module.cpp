#include "bind.h"

PYBIND11_MODULE(_base, m) {
  namespace python = penstock::python;
  m.doc() =
      "What of the C++ side needs no torch: errors, settings, envs, acting, pricing offers, "
      "planning routes. Use "
      "the names of the "
      "package penstock instead.";
  python::bind_base(m);
  python::bind_env(m);
  python::bind_act(m);
  python::bind_offer(m);
  python::bind_dispatch(m);
  python::bind_selling(m);
  python::bind_cage2(m);
}
