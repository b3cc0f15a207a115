#include <pybind11/stl.h>

#include <string>
#include <tuple>
#include <vector>

#include "bind.h"
#include "penstock/app/catalog/catalog.h"
#include "penstock_docs.h"

namespace penstock::python {
namespace {

using Line = std::tuple<std::string, std::string>;

template <class Entry>
std::vector<Line> lines_of(const std::vector<Entry>& entries) {
  std::vector<Line> lines;
  for (const Entry& entry : entries) { lines.emplace_back(entry.name, entry.doc); }
  return lines;
}

}  // namespace

void bind_catalog(py::module_& m) {
  m.def(
      "envs", [] { return lines_of(default_catalog().envs); },
      "(name, doc) of every env that ships with Penstock.");
  m.def(
      "networks", [] { return lines_of(default_catalog().networks); },
      "(name, doc) of every kind of network that ships with Penstock.");
}

}  // namespace penstock::python
