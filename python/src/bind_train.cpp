#include <pybind11/functional.h>

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bind.h"
#include "penstock/app/catalog/catalog.h"
#include "penstock/core/act/actor.h"
#include "penstock/core/fused/isa.h"
#include "penstock/core/train/remote_sampler.h"
#include "penstock/core/train/trained_run.h"
#include "penstock/envs/python/python_env.h"
#include "penstock_docs.h"
#include "py_carrier.h"
#include "shared/describe.h"
#include "shared/predict.h"
#include "shared/python_host.h"
#include "training.h"

namespace penstock::python {
namespace {

std::shared_ptr<RunPlan> make_plan(const Settings& settings, const py::object& module,
                                   const std::string& pickled) {
  Catalog catalog = default_catalog(host_here(pickled));
  if (!module.is_none()) { catalog.networks.push_back(module_entry(module)); }
  return std::make_shared<RunPlan>(settings, catalog);
}

/// An env of Python is asked by starting an interpreter.
EnvSpec spec_of(const RunPlan& plan) {
  const py::gil_scoped_release unlocked;
  return plan.env().spec();
}

std::string spaces_of(const RunPlan& plan) {
  const py::gil_scoped_release unlocked;
  return pickled_spaces(plan.env());
}

/// (path, value, doc, origin) of every key.
py::list fields_of_plan(const RunPlan& plan) {
  py::list out;
  for (const Field& field : plan.fields()) {
    const py::object value = std::visit(
        [](const auto* target) -> py::object { return py::cast(*target); }, field.target);
    out.append(py::make_tuple(field.path, value, field.doc, field.origin));
  }
  return out;
}

std::unique_ptr<Engine> make_engine(const RunPlan& plan) {
  const py::gil_scoped_release unlocked;
  const OneTorchThread one;
  return std::make_unique<Engine>(plan);
}

/// Env steps of the checkpoint. Of a run with samplers in other processes, its policy only.
std::int64_t restore(Engine& engine, const std::string& path,
                     const std::variant<std::string, std::int64_t>& which) {
  const py::gil_scoped_release unlocked;
  RunDir dir(path, RunDir::Open::read);
  const auto* step = std::get_if<std::int64_t>(&which);
  const std::string word = step != nullptr ? std::to_string(*step) : std::get<std::string>(which);
  const Checkpoint checkpoint =
      chosen_checkpoint(dir, word, CheckpointPart::whole, [](const std::string&) {});
  samples_elsewhere(checkpoint) ? engine.start_from(checkpoint) : engine.restore(checkpoint);
  return checkpoint.step;
}

/// The plan is kept as long as the sampler.
std::unique_ptr<RemoteSampler> make_sampler(const RunPlan& plan, std::size_t seat,
                                            std::size_t num_seats, std::int64_t epoch) {
  const py::gil_scoped_release unlocked;
  const OneTorchThread one;
  return std::make_unique<RemoteSampler>(
      plan, RemoteSampler::Seat{.number = seat, .of = num_seats, .epoch = epoch});
}

py::array_t<std::uint8_t> fill(RemoteSampler& sampler, const Dense<float>& weights,
                               std::int64_t version) {
  const std::span<const float> floats(weights.data(), static_cast<std::size_t>(weights.size()));
  std::vector<std::byte> message;
  {
    const py::gil_scoped_release unlocked;
    const OneTorchThread one;
    sampler.adopt(floats, version);
    message = sampler.fill();
  }
  return py::array_t<std::uint8_t>(std::ssize(message),
                                   reinterpret_cast<const std::uint8_t*>(message.data()));
}

py::bytes state_of(const RemoteSampler& sampler) {
  std::vector<std::byte> bytes;
  {
    const py::gil_scoped_release unlocked;
    bytes = sampler.save();
  }
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void restore_sampler(RemoteSampler& sampler, const py::bytes& state) {
  const std::string_view bytes = state;
  const py::gil_scoped_release unlocked;
  sampler.load(std::as_bytes(std::span(bytes)));
}

/// On a thread of its own, so that this one can hear signals.
EvalResult evaluate_engine(Engine& engine, const RunPlan& plan, std::int64_t episodes,
                           std::uint64_t seed, bool deterministic) {
  constexpr std::chrono::milliseconds kSlice{50};
  const py::gil_scoped_release unlocked;
  std::atomic<bool> stop{false};
  std::future<EvalResult> playing = std::async(std::launch::async, [&] {
    const OneTorchThread one;
    return evaluate(
        engine.player(), plan.env(), engine.pool(),
        {.episodes = episodes, .seed = seed, .deterministic = deterministic, .stop = &stop});
  });
  while (playing.wait_for(kSlice) != std::future_status::ready) {
    const py::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) {
      const py::error_already_set answer;  // KeyboardInterrupt, say
      stop = true;
      {
        const py::gil_scoped_release again;
        playing.wait();
      }
      throw answer;
    }
  }
  return playing.get();
}

py::array predict_with_engine(Engine& engine, const Dense<float>& obs,
                              const std::optional<Dense<bool>>& legal,
                              std::optional<std::uint64_t> seed, std::uint64_t step) {
  const std::shared_ptr<const PolicyModel> model = newest_model(engine);
  return predict(model->spec(), {obs, legal, seed, step},
                 [&](const ActRows& rows, const ActResult& into, const ActionNoise* noise) {
                   const OneTorchThread one;
                   make_actor(model)->act(rows, into, noise);
                 });
}

/// Metrics as Python knows them.
py::dict to_dict(const Metrics& metrics) {
  py::dict out;
  for (const auto& [name, value] : metrics) { out[py::str(name)] = value; }
  return out;
}

std::unique_ptr<Training> make_training(
    const std::shared_ptr<RunPlan>& plan, const std::string& path, bool fresh,
    std::function<bool(const Progress&)> progress,
    const std::function<bool(const Progress&, const py::dict&)>& logged,
    std::function<void(const std::string&)> note, const py::object& carrier) {
  std::unique_ptr<Carrier> joined;
  if (!carrier.is_none()) { joined = std::make_unique<PyCarrier>(carrier); }
  Watcher watcher{std::move(progress),
                  [logged](const Progress& now, const Metrics& metrics) {
                    return logged(now, to_dict(metrics));
                  },
                  std::move(note)};
  const py::gil_scoped_release unlocked;
  const OneTorchThread one;
  return std::make_unique<Training>(plan, path, fresh, std::move(watcher), std::move(joined));
}

std::string use_isa(const std::string& name) {
  fused::use_isa(name);
  return fused::current_isa();
}

void bind_results(py::module_& m) {
  py::class_<EvalResult>(m, "EvalResult", "Whole episodes played by a policy.")
      .def_readonly("episodes", &EvalResult::episodes)
      .def_readonly("mean_reward", &EvalResult::mean_reward)
      .def_readonly("std_reward", &EvalResult::std_reward, docs::EvalResult_std_reward)
      .def_readonly("ci95_low", &EvalResult::ci95_low, docs::EvalResult_ci95_low)
      .def_readonly("ci95_high", &EvalResult::ci95_high)
      .def_readonly("mean_ep_length", &EvalResult::mean_ep_length)
      .def_readonly("success_rate", &EvalResult::success_rate, docs::EvalResult_success_rate)
      .def_property_readonly(
          "stats",
          [](const EvalResult& r) {
            return std::map<std::string, double>(r.stats.begin(), r.stats.end());
          },
          docs::EvalResult_stats)
      .def("__repr__", [](const EvalResult& r) {
        return py::str(
                   "EvalResult(mean_reward={:.6g}, std_reward={:.6g}, episodes={}, "
                   "mean_ep_length={:.6g})")
            .format(r.mean_reward, r.std_reward, r.episodes, r.mean_ep_length);
      });
  py::class_<Progress>(m, "Progress", docs::Progress)
      .def_readonly("timesteps", &Progress::timesteps)
      .def_readonly("total_timesteps", &Progress::total_timesteps)
      .def_readonly("episodes", &Progress::episodes)
      .def_readonly("fps", &Progress::fps, docs::Progress_fps)
      .def_readonly("ep_rew_mean", &Progress::ep_rew_mean, docs::Progress_ep_rew_mean)
      .def_readonly("ep_len_mean", &Progress::ep_len_mean, docs::Progress_ep_len_mean)
      .def_readonly("elapsed_s", &Progress::elapsed_s)
      .def_readonly("done", &Progress::done)
      .def_readonly("left_s", &Progress::left_s);
  py::class_<Summary>(m, "Summary", docs::Summary)
      .def_readonly("digest", &Summary::digest)
      .def_readonly("total_timesteps", &Summary::total_timesteps)
      .def_readonly("updates", &Summary::updates)
      .def_readonly("episodes", &Summary::episodes)
      .def_readonly("discarded", &Summary::discarded, docs::Summary_discarded)
      .def_readonly("incidents", &Summary::incidents, docs::Summary_incidents)
      .def_readonly("preempted", &Summary::preempted, docs::Summary_preempted)
      .def_readonly("eval", &Summary::eval, docs::Summary_eval)
      .def_readonly("fps", &Summary::fps)
      .def_readonly("time_elapsed", &Summary::time_elapsed)
      .def_property_readonly("perf", [](const Summary& s) { return to_dict(s.perf); })
      .def("line", &Summary::line, docs::Summary_line)
      .def("__repr__", [](const Summary& s) { return "Summary(" + s.line() + ")"; });
}

void bind_engine(py::module_& m) {
  py::class_<RunPlan, std::shared_ptr<RunPlan>>(m, "RunPlan", docs::RunPlan)
      .def(py::init(&make_plan), py::arg("settings"), py::arg("module") = py::none(),
           py::arg("pickled") = "", docs::RunPlan_RunPlan)
      .def("fields", fields_of_plan, "(path, value, doc, origin) of every key.")
      .def(
          "toml", [](const RunPlan& plan) { return to_toml(plan.fields()); }, docs::to_toml)
      .def(
          "spec", [](const RunPlan& plan) { return describe(spec_of(plan)); }, docs::EnvSpec)
      .def("spaces", spaces_of, docs::pickled_spaces)
      .def("warnings", &RunPlan::warnings, docs::RunPlan_warnings);
  py::class_<Engine>(m, "Engine", docs::Engine)
      .def(py::init(&make_engine), py::arg("plan"))
      .def("restore", restore, py::arg("path"), py::arg("checkpoint"), docs::Engine_restore)
      .def(
          "take_policy",
          [](Engine& engine, const std::string& path) {
            take_policy(engine, path, [](const std::string&) {});
          },
          py::arg("path"), docs::take_policy)
      .def("timesteps", &Engine::timesteps)
      .def("digest", &Engine::digest, py::call_guard<py::gil_scoped_release>(), docs::Engine_digest)
      .def("fused", &Engine::fused)
      .def("evaluate", evaluate_engine, py::arg("plan"), py::arg("episodes"), py::arg("seed"),
           py::arg("deterministic"), docs::evaluate)
      .def("predict", predict_with_engine, py::arg("obs"), py::arg("legal"), py::arg("seed"),
           py::arg("step"), docs::predict)
      .def(
          "export", [](Engine& engine, const std::string& path) { engine.model()->save(path); },
          py::arg("path"), py::call_guard<py::gil_scoped_release>(), docs::PolicyModel_save);
}

}  // namespace

void bind_train(py::module_& m) {
  bind_results(m);
  bind_engine(m);
  py::class_<RemoteSampler>(m, "Sampler", docs::RemoteSampler)
      .def(py::init(&make_sampler), py::arg("plan"), py::arg("seat"), py::arg("num_seats"),
           py::arg("epoch"), py::keep_alive<1, 2>(), docs::RemoteSampler_RemoteSampler)
      .def_property_readonly("num_weights", &RemoteSampler::num_weights,
                             docs::RemoteSampler_num_weights)
      .def("fill", fill, py::arg("weights"), py::arg("version"), docs::RemoteSampler_fill)
      .def("state", state_of, docs::RemoteSampler_save)
      .def("restore", restore_sampler, py::arg("state"), docs::RemoteSampler_load);
  py::class_<Training>(m, "Training", docs::Training)
      .def(py::init(&make_training), py::arg("plan"), py::arg("path"), py::arg("fresh"),
           py::arg("progress"), py::arg("logged"), py::arg("note"), py::arg("carrier") = py::none(),
           docs::Training_Training)
      .def("run", &Training::run, py::call_guard<py::gil_scoped_release>(), docs::Training_run)
      .def("save", &Training::save, py::call_guard<py::gil_scoped_release>(), docs::Training_save)
      .def_property_readonly("engine", &Training::engine,
                             py::return_value_policy::reference_internal, docs::Training_engine);
  m.def("use_isa", use_isa, py::arg("name"),
        "Chooses an instruction set for the fused kernels; the name of the one in use.");
  m.def("supported_isas", &fused::supported_isas,
        "Instruction sets that this machine has kernels for, the best first.");
  m.def(
      "recorded_settings",
      [](const std::string& dir, bool trust) {
        return recorded_settings(dir, {.anyway = trust}, [](const std::string&) {});
      },
      py::arg("dir"), py::arg("trust"), docs::recorded_settings);
  m.attr("MODULE_KIND") = kModuleKind;
}

}  // namespace penstock::python
