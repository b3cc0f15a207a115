#pragma once
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>

namespace penstock {
struct NetworkEntry;
}  // namespace penstock

namespace penstock::python {

namespace py = pybind11;

// One function per module; called in the order of the modules' arrows.
void bind_nn(py::module_& m);
void bind_train(py::module_& m);
void bind_cli(py::module_& m);

/// A line for the catalog: a torch.nn.Module as a network, deep-copied once per shard.
NetworkEntry module_entry(const py::object& module);

/// The name under which such a line stands.
inline constexpr const char* kModuleKind = "module";

/// A reference that may be dropped by any thread.
inline std::shared_ptr<py::object> shared_reference(const py::object& object) {
  return {new py::object(object), [](py::object* held) {
            const py::gil_scoped_acquire gil;
            delete held;
          }};
}

}  // namespace penstock::python
