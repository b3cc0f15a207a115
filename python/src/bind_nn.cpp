#include <torch/csrc/utils/pybind.h>
// After torch's casters.
#include <ATen/Functions.h>
#include <c10/core/InferenceMode.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bind.h"
#include "penstock/core/act/action_head.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/nn/mlp.h"
#include "penstock/core/train/engine.h"
#include "penstock_docs.h"
#include "training.h"

namespace penstock::python {
namespace {

std::string shape_text(const at::Tensor& tensor) {
  std::string text = "[";
  for (const std::int64_t size : tensor.sizes()) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  }
  return text + "]";
}

/// The parts of a module that learn as they were given: others were put into eval mode on purpose.
py::list training_parts(const py::object& module) {
  py::list parts;
  for (const py::handle part : module.attr("modules")()) {
    if (part.attr("training").cast<bool>()) { parts.append(part); }
  }
  return parts;
}

/// A torch.nn.Module that acts as a network. Its forward(obs, legal) runs under the interpreter's
/// lock: shards take turns in Python and run side by side in torch's kernels and in backward.
class ModuleNetwork final : public Network {
 public:
  ModuleNetwork(const py::object& module, const EnvSpec& spec, std::size_t num_params)
      : module_(shared_reference(module)),
        training_parts_(shared_reference(training_parts(module))),
        layout_(spec.obs),
        num_params_(static_cast<std::int64_t>(num_params)),
        mask_width_(spec.action.masked() ? static_cast<std::int64_t>(spec.action.num_actions())
                                         : 0) {
    for (const py::handle item : module.attr("named_parameters")()) {
      auto [name, tensor] = item.cast<std::pair<std::string, at::Tensor>>();
      if (tensor.scalar_type() != at::kFloat) {
        throw UsageError("policy: parameter " + name + " is not float32");
      }
      parameters_.emplace_back(std::move(name), std::move(tensor));
    }
    if (parameters_.empty()) { throw UsageError("policy: the module has no parameters"); }
  }

  NetworkOutput forward(const Observation& batch, Outputs /*want*/) override {
    const py::gil_scoped_acquire gil;
    // While sampling, rows are lent memory; a module might keep them.
    const bool lent = c10::InferenceMode::is_enabled();
    set_learning(!lent);
    const at::Tensor features = features_of(layout_, batch.obs);
    const at::Tensor obs = lent ? features.clone() : features;
    return checked((*module_)(obs, mask(batch, lent)), batch.obs.size(0));
  }

  std::vector<std::pair<std::string, at::Tensor>> parameters() override { return parameters_; }

 private:
  /// Dropout and the like are on in updates only; off when acting, predicting and evaluating.
  void set_learning(bool learning) {
    if (learning == learning_) { return; }
    for (const py::handle part : *training_parts_) { part.attr("training") = learning; }
    learning_ = learning;
  }

  /// Where only the value is wanted no mask is given: everything is legal then.
  [[nodiscard]] py::object mask(const Observation& batch, bool lent) const {
    if (mask_width_ == 0) { return py::none(); }
    if (batch.legal.defined()) { return py::cast(lent ? batch.legal.clone() : batch.legal); }
    return py::cast(
        at::ones({batch.obs.size(0), mask_width_}, batch.obs.options().dtype(at::kBool)));
  }

  [[nodiscard]] NetworkOutput checked(const py::object& returned, std::int64_t rows) const {
    std::pair<at::Tensor, at::Tensor> out;
    try {
      out = returned.cast<std::pair<at::Tensor, at::Tensor>>();
    } catch (const py::cast_error&) {
      throw UsageError("policy: forward(obs, legal) must return two tensors, (logits, value)");
    }
    const auto& [params, value] = out;
    if (params.dim() != 2 || params.size(0) != rows || params.size(1) != num_params_) {
      throw UsageError("policy: the first tensor of forward() is " + shape_text(params) +
                       ", expected [" + std::to_string(rows) + ", " + std::to_string(num_params_) +
                       "]: logits, or means and log standard deviations");
    }
    if (value.numel() != rows) {
      throw UsageError("policy: the value of forward() is " + shape_text(value) + ", expected [" +
                       std::to_string(rows) + "]");
    }
    return {params, value.reshape({rows})};
  }

  std::shared_ptr<py::object> module_;
  std::shared_ptr<py::object> training_parts_;
  bool learning_ = true;
  Layout layout_;
  std::int64_t num_params_;
  std::int64_t mask_width_;  // 0 when the env has no masks
  std::vector<std::pair<std::string, at::Tensor>> parameters_;
};

/// A copy of every parameter by name.
std::map<std::string, at::Tensor> weights(Engine& engine) {
  const std::shared_ptr<const PolicyModel> model = newest_model(engine);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): tensors know no const
  const at::Tensor flat =
      at::from_blob(const_cast<float*>(model->weights()), {model->shape().num_floats}, at::kFloat);
  std::map<std::string, at::Tensor> out;
  for (const ParameterSlot& slot : model->shape().slots) {
    out[slot.name] = Policy::view(flat, slot).clone();
  }
  return out;
}

/// (count, mean, deviation) of every feature, as acting uses them; None without normalise.obs.
py::object normaliser(Engine& engine) {
  const std::shared_ptr<const PolicyModel> model = newest_model(engine);
  if (!model->shape().normalised()) { return py::none(); }
  const std::vector<Moments>& moments = model->normaliser().moments();
  const at::Tensor out = at::empty({3, static_cast<std::int64_t>(moments.size())}, at::kDouble);
  auto rows = out.accessor<double, 2>();
  for (std::size_t f = 0; f < moments.size(); ++f) {
    const auto column = static_cast<std::int64_t>(f);
    rows[0][column] = moments[f].count;
    rows[1][column] = moments[f].mean;
    rows[2][column] = std::sqrt(moments[f].variance());
  }
  return py::cast(out);
}

}  // namespace

NetworkEntry module_entry(const py::object& module) {
  const auto make = [held = shared_reference(module)](const EnvSpec& spec, const NetConfig&,
                                                      std::uint64_t) -> std::unique_ptr<Network> {
    const py::gil_scoped_acquire gil;
    const py::object copy = py::module_::import("copy").attr("deepcopy")(*held);
    const std::size_t num_params = make_action_head(spec.action, false)->num_params();
    return std::make_unique<ModuleNetwork>(copy, spec, num_params);
  };
  return network_entry<NetConfig>(kModuleKind, "a torch.nn.Module from Python", make);
}

void bind_nn(py::module_& m) {
  m.def("weights", weights, py::arg("engine"), "A copy of every parameter by name.");
  m.def(
      "set_weights",
      [](Engine& engine, const std::map<std::string, at::Tensor>& given) {
        engine.set_weights(given);
      },
      py::arg("engine"), py::arg("weights"), py::call_guard<py::gil_scoped_release>(),
      docs::Engine_set_weights);
  m.def("normaliser", normaliser, py::arg("engine"),
        "Count, mean and deviation [3, F] of every feature, or None without normalise.obs.");
}

}  // namespace penstock::python
