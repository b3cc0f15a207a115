#include <pybind11/stl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <tuple>
#include <vector>

#include "envs/python/process_tree.h"
#include "penstock/envs/python/worker_port.h"
#include "shared/env_runner.h"

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

/// (pid, pid of the parent, time of its start).
using Entry = std::tuple<pid_t, pid_t, std::uint64_t>;

std::vector<Entry> living_below(pid_t root) {
  std::vector<Entry> found;
  for (const auto& entry : penstock::detail::living_below(root)) {
    found.emplace_back(entry.pid, entry.parent, entry.started);
  }
  return found;
}

void kill_process(pid_t pid, std::uint64_t started) {
  penstock::detail::kill_process({.pid = pid, .started = started});
}

void end_tree(pid_t child) {
  penstock::detail::end_tree(Process(child, ::syscall(SYS_pidfd_open, child, 0)));
}

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

/// Of processes: what the server of workers needs.
void bind_processes(py::module_& m) {
  m.def("end_with_parent", &penstock::end_with_parent, py::arg("pipe"),
        "Ends this process, with all that it started, once nobody holds the other end of the "
        "pipe.");
  m.def("adopt_orphans", adopt_orphans,
        "From now on processes below this one stay below it when their parents end.");
  m.def("living_below", living_below, py::arg("pid"),
        "(pid, pid of the parent, time of its start) of all below a process; parents come first.");
  m.def("kill_process", kill_process, py::arg("pid"), py::arg("started"),
        "SIGKILL, unless the number is another process's by now.");
  m.def("end_tree", end_tree, py::arg("child"),
        "Kills a child with all below it and the group that it leads; it is still to be waited "
        "for.");
  m.def("end_below_this_process", penstock::detail::end_below_this_process,
        "Kills all that is below this process.");
}

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
  penstock::python::bind_processes(m);
}
