#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "bind.h"
#include "penstock/app/envs/envs.h"
#include "penstock/core/base/config.h"
#include "penstock/core/base/errors.h"
#include "penstock_docs.h"
#include "shared/dense.h"
#include "shared/describe.h"
#include "shared/python_host.h"
#include "vector_env.h"

namespace penstock::python {
namespace {

using Seeds = std::vector<std::optional<std::uint64_t>>;

std::unique_ptr<VectorEnv> make(const std::string& env, const Settings& settings,
                                std::size_t num_envs, std::size_t num_threads, Autoreset autoreset,
                                const std::string& pickled) {
  const std::unique_ptr<EnvFactory> factory = default_envs(host_here(pickled)).env(env);
  std::vector<Field> fields = factory->fields();
  penstock::apply(fields, settings);
  if (num_envs < 1 || num_threads < 1) {
    throw UsageError("num_envs and num_threads: expected at least 1");
  }
  const py::gil_scoped_release unlocked;
  return std::make_unique<VectorEnv>(*factory,
                                     VectorEnv::Options{num_envs, num_threads, autoreset});
}

/// A view of the envs' memory, which keeps the envs alive.
template <class T>
py::array_t<T> view(const py::object& self, const std::unique_ptr<T[]>& rows,
                    std::vector<py::ssize_t> shape) {
  return py::array_t<T>(std::move(shape), rows.get(), self);
}

py::ssize_t count(const VectorEnv& env) { return static_cast<py::ssize_t>(env.num_envs()); }

/// Every array by its name.
py::dict arrays(const py::object& self) {
  const auto& env = self.cast<const VectorEnv&>();
  const VectorEnv::Rows& rows = env.rows();
  const py::ssize_t n = count(env);
  const auto features = static_cast<py::ssize_t>(env.spec().obs.num_features());
  const ActionSpec& action = env.spec().action;
  py::dict out;
  out["obs"] = view(self, rows.obs, {n, features});
  out["final_obs"] = view(self, rows.final_obs, {n, features});
  if (action.masked()) {
    out["legal"] = view(self, rows.legal, {n, static_cast<py::ssize_t>(action.num_actions())});
  }
  out["reward"] = view(self, rows.reward, {n});
  out["terminated"] = view(self, rows.terminated, {n});
  out["truncated"] = view(self, rows.truncated, {n});
  out["ended"] = view(self, rows.ended, {n});
  out["total_reward"] = view(self, rows.total_reward, {n});
  out["length"] = view(self, rows.length, {n});
  out["seconds"] = view(self, rows.seconds, {n});
  out["success"] = view(self, rows.success, {n});
  out["discarded"] = view(self, rows.discarded, {n});
  out["which"] = view(self, rows.which, {n});
  return out;
}

void reset(VectorEnv& env, const std::optional<Dense<bool>>& mask, const Seeds& seeds) {
  std::span<const bool> picked;
  if (mask) { picked = {mask->data(), static_cast<std::size_t>(mask->size())}; }
  if ((mask && mask->size() != count(env)) || (!seeds.empty() && seeds.size() != env.num_envs())) {
    throw UsageError("reset: a mask or a list of seeds has one entry for each of the " +
                     std::to_string(env.num_envs()) + " envs");
  }
  const py::gil_scoped_release unlocked;
  env.reset(picked, seeds);
}

template <class T>
std::size_t step(VectorEnv& env, const Dense<T>& actions) {
  const std::span<const T> rows{actions.data(), static_cast<std::size_t>(actions.size())};
  if (rows.size() != env.num_envs() * env.spec().action.dims()) {
    throw UsageError("step: " + std::to_string(rows.size()) + " numbers for " +
                     std::to_string(env.num_envs()) + " envs of " +
                     std::to_string(env.spec().action.dims()) + " each");
  }
  const py::gil_scoped_release unlocked;
  return env.step(rows);
}

using EnvLine = std::tuple<std::string, std::string>;

std::vector<EnvLine> envs() {
  std::vector<EnvLine> lines;
  for (const EnvEntry& entry : default_envs().envs) { lines.emplace_back(entry.name, entry.doc); }
  return lines;
}

/// What happened, a replay file, its name, and the options that it is replayed with.
using IncidentLine = std::tuple<std::string, std::string, std::string, std::string>;

std::vector<IncidentLine> take_incidents(VectorEnv& env) {
  std::vector<IncidentLine> lines;
  for (const Incident& incident : env.take_incidents()) {
    lines.emplace_back(incident.message, incident.replay, incident.replay_name,
                       incident.replay_options);
  }
  return lines;
}

}  // namespace

void bind_env(py::module_& m) {
  py::enum_<Autoreset>(m, "Autoreset", docs::Autoreset)
      .value("same_step", Autoreset::same_step)
      .value("next_step", Autoreset::next_step)
      .value("disabled", Autoreset::disabled);
  py::class_<VectorEnv>(m, "VectorEnv", docs::VectorEnv)
      .def(py::init(&make), py::arg("env"), py::arg("settings"), py::arg("num_envs"),
           py::arg("num_threads"), py::arg("autoreset"), py::arg("pickled") = "")
      .def("reset", reset, py::arg("mask"), py::arg("seeds"), docs::VectorEnv_reset)
      .def("step_choices", step<std::int64_t>, py::arg("choices"), docs::VectorEnv_step)
      .def("step_points", step<float>, py::arg("points"), docs::VectorEnv_step)
      .def("take_incidents", take_incidents,
           "(message, replay document, name for its file) of each.")
      .def("close", &VectorEnv::close, py::call_guard<py::gil_scoped_release>(),
           docs::VectorEnv_close)
      .def("arrays", arrays, docs::VectorEnv_Rows)
      .def(
          "spec", [](const VectorEnv& env) { return describe(env.spec()); }, docs::EnvSpec);
  m.def("envs", envs, "(name, doc) of every env that ships with Penstock.");
}

}  // namespace penstock::python
