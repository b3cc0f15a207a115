#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "bind.h"
#include "penstock/domains/booking/offer/command.h"
#include "penstock_docs.h"

namespace penstock::python {
namespace {

int run_offer(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) { argv.push_back(argument.c_str()); }
  argv.push_back(nullptr);
  const py::gil_scoped_release unlocked;
  const int code = booking::run_offer_command(static_cast<int>(arguments.size()), argv.data());
  std::cout.flush();
  std::fflush(nullptr);
  return code;
}

}  // namespace

void bind_offer(py::module_& m) {
  m.def("run_offer_command", run_offer, py::arg("arguments"), docs::run_offer_command);
}

}  // namespace penstock::python
