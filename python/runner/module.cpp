#include <memory>

#include "env_runner.h"
#include "penstock/envs/python/worker_port.h"

namespace penstock::python {
namespace {

/// A worker: shared rows, its end of them, and its envs.
class Runner {
 public:
  Runner(int rows, std::size_t worker, py::object make)
      : rows_(rows), port_(rows_, worker), envs_(rows_, std::move(make)) {}

  void run() {
    while (wait()) {
      port_.serve([this](std::size_t env, Order order) { envs_.work(env, order); });
    }
  }
  void close() { envs_.close(); }

 private:
  bool wait() {
    const py::gil_scoped_release unlocked;
    return port_.wait();
  }

  SharedRows rows_;
  WorkerPort port_;
  EnvRunner envs_;
};

}  // namespace
}  // namespace penstock::python

PYBIND11_MODULE(_runner, m) {
  namespace py = pybind11;
  using penstock::python::Runner;
  m.doc() = "The worker's side of shared rows. It holds no torch.";
  py::class_<Runner>(m, "Runner", "A worker: shared rows, its end of them, and its envs.")
      .def(py::init<int, std::size_t, py::object>(), py::arg("rows"), py::arg("worker"),
           py::arg("make"))
      .def("run", &Runner::run, "Carries out orders until the parent wants an end.")
      .def("close", &Runner::close, "Closes all envs.");
  m.def("end_with_parent", &penstock::end_with_parent, py::arg("pipe"),
        "Ends this process once nobody holds the other end of the pipe.");
}
