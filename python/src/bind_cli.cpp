#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "bind.h"
#include "penstock/app/catalog/catalog.h"
#include "penstock/app/cli/cli.h"
#include "penstock_docs.h"
#include "shared/python_host.h"

namespace penstock::python {
namespace {

int run(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) { argv.push_back(argument.c_str()); }
  argv.push_back(nullptr);
  const Catalog catalog = default_catalog(host_here());
  const py::gil_scoped_release unlocked;
  const int code = run_cli(static_cast<int>(arguments.size()), argv.data(), catalog);
  std::cout.flush();
  std::fflush(nullptr);
  return code;
}

}  // namespace

void bind_cli(py::module_& m) { m.def("run_cli", run, py::arg("arguments"), docs::run_cli); }

}  // namespace penstock::python
