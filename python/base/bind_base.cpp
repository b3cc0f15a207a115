#include <string>
#include <tuple>
#include <vector>

#include "bind.h"
#include "penstock/core/base/config.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/text.h"
#include "penstock/core/base/version_info.h"
#include "penstock_docs.h"

namespace penstock::python {
namespace {

/// Python's classes of our errors; they live as long as the interpreter.
struct ErrorTypes {
  py::handle base;
  py::handle config;
  py::handle usage;
  py::handle data;
  py::handle io;
};
ErrorTypes error_types;

py::handle make_error(py::module_& m, const char* name, const char* doc, const py::tuple& bases) {
  const std::string full = std::string("penstock.") + name;
  const py::handle type = PyErr_NewExceptionWithDoc(full.c_str(), doc, bases.ptr(), nullptr);
  if (!type) { throw py::error_already_set(); }
  m.attr(name) = type;
  return type;
}

void raise(py::handle type, const Error& error) {
  const py::object value = type(printable(error.what()));
  value.attr("exit_code") = static_cast<int>(error.exit());
  PyErr_SetObject(type.ptr(), value.ptr());
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) { std::rethrow_exception(std::move(thrown)); }
  } catch (const ConfigError& error) {
    raise(error_types.config, error);
  } catch (const UsageError& error) {
    raise(error_types.usage, error);
  } catch (const DataError& error) {
    raise(error_types.data, error);
  } catch (const IoError& error) { raise(error_types.io, error); } catch (const Error& error) {
    raise(error_types.base, error);
  }
}

void bind_errors(py::module_& m) {
  const auto with = [](py::handle a, py::handle b) { return py::make_tuple(a, b); };
  error_types.base =
      make_error(m, "Error", docs::Error, py::make_tuple(py::handle(PyExc_Exception)));
  const py::handle base = error_types.base;
  error_types.config =
      make_error(m, "ConfigError", docs::ConfigError, with(base, PyExc_ValueError));
  error_types.usage = make_error(m, "UsageError", docs::UsageError, with(base, PyExc_ValueError));
  error_types.data = make_error(m, "DataError", docs::DataError, with(base, PyExc_ValueError));
  error_types.io = make_error(m, "IoError", docs::IoError, with(base, PyExc_OSError));
  py::register_exception_translator(translate);
}

using Line = std::tuple<std::string, std::string, std::string>;

std::vector<Line> lines_of(const Settings& settings) {
  std::vector<Line> lines;
  for (const Setting& s : settings.all()) { lines.emplace_back(s.path, s.text, s.origin); }
  return lines;
}

void append(Settings& settings, const Settings& other) {
  for (const Setting& s : other.all()) { settings.add(s.path, s.text, s.origin); }
}

}  // namespace

void bind_base(py::module_& m) {
  bind_errors(m);
  py::class_<Settings>(m, "Settings", docs::Settings)
      .def(py::init<>())
      .def(py::init<const Settings&>(), py::arg("other"))
      .def("add", &Settings::add, py::arg("path"), py::arg("text"), py::arg("origin"))
      .def("add_toml", &Settings::add_toml, py::arg("text"), py::arg("name"))
      .def("add_toml_file", &Settings::add_toml_file, py::arg("path"), docs::Settings_add_toml_file)
      .def("append", append, py::arg("other"), "Everything that the other says, after this.")
      .def("lines", lines_of, "(path, text, origin) of each, in growing precedence.");
  m.attr("__version__") = version();
  m.attr("git_hash") = git_hash();
}

}  // namespace penstock::python
