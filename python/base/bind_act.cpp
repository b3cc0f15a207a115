#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "bind.h"
#include "penstock/core/act/actor.h"
#include "penstock_docs.h"
#include "shared/describe.h"
#include "shared/predict.h"

namespace penstock::python {
namespace {

/// A policy that was read from its file. An actor has scratch memory: threads take turns.
class FilePolicy {
 public:
  explicit FilePolicy(const std::string& path) : actor_(make_actor(PolicyModel::load(path))) {}

  [[nodiscard]] const PolicyModel& model() const { return actor_->model(); }

  py::array predict(const Dense<float>& obs, const std::optional<Dense<bool>>& legal,
                    std::optional<std::uint64_t> seed, std::uint64_t step) {
    return python::predict(
        model().spec(), {obs, legal, seed, step},
        [this](const ActRows& rows, const ActResult& into, const ActionNoise* noise) {
          const std::scoped_lock lock(mutex_);
          actor_->act(rows, into, noise);
        });
  }

 private:
  std::unique_ptr<Actor> actor_;
  std::mutex mutex_;
};

}  // namespace

void bind_act(py::module_& m) {
  py::class_<FilePolicy>(m, "FilePolicy", "A policy that was read from its file.")
      .def(py::init<const std::string&>(), py::arg("path"), docs::PolicyModel_load)
      .def(
          "spec", [](const FilePolicy& policy) { return describe(policy.model().spec()); },
          docs::EnvSpec)
      .def(
          "version", [](const FilePolicy& policy) { return policy.model().version(); },
          docs::PolicyModel_version)
      .def("predict", &FilePolicy::predict, py::arg("obs"), py::arg("legal"), py::arg("seed"),
           py::arg("step"), docs::predict);
}

}  // namespace penstock::python
