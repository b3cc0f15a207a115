#include "shared/python_host.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <utility>
#include <vector>

#include "penstock/core/base/json_value.h"
#include "shared/env_runner.h"

namespace penstock::python {
namespace {

/// Envs of this very process.
class Inline final : public InlineWorker {
 public:
  Inline(SharedRows& rows, const std::string& payload) {
    const py::gil_scoped_acquire gil;
    const py::object make = py::module_::import("penstock_worker.factory").attr("Maker")(payload);
    envs_ = std::make_unique<EnvRunner>(rows, make, true);
  }
  ~Inline() override {
    const py::gil_scoped_acquire gil;
    envs_->close();
    envs_.reset();
  }
  void work(std::size_t env, Order order) override {
    const py::gil_scoped_acquire gil;
    envs_->work(env, order);
  }

 private:
  std::unique_ptr<EnvRunner> envs_;
};

Process fork_server(const std::string& payload, int socket, int lifeline, int held) {
  const py::gil_scoped_acquire gil;
  const auto [pid, pidfd] = py::module_::import("penstock_worker.server")
                                .attr("fork_server")(payload, socket, lifeline, held)
                                .cast<std::pair<pid_t, int>>();
  return {pid, pidfd};
}

void check_interrupt() {
  const py::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) { throw py::error_already_set(); }
}

}  // namespace

PythonHost host_here(const std::string& pickled) {
  const py::module_ sys = py::module_::import("sys");
  Json payload = {{"path", sys.attr("path").cast<std::vector<std::string>>()}};
  if (!pickled.empty()) { payload["pickle"] = pickled; }
  const py::object executable = sys.attr("executable");
  return {.python = executable.is_none() ? "" : executable.cast<std::string>(),
          .payload = to_text(payload),
          .make_inline = [](SharedRows& rows, const std::string& text)
              -> std::unique_ptr<InlineWorker> { return std::make_unique<Inline>(rows, text); },
          .check_interrupt = check_interrupt,
          .fork_server = fork_server};
}

}  // namespace penstock::python
