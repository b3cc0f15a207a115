#include "shared/predict.h"

#include <span>
#include <string>
#include <vector>

#include "penstock/core/base/errors.h"

namespace penstock::python {
namespace {

template <class T>
std::span<const T> span_of(const Dense<T>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

template <class T>
std::span<T> memory_of(py::array_t<T>& array) {
  return {array.mutable_data(), static_cast<std::size_t>(array.size())};
}

/// Features [n, F] as the rows that policies read.
std::vector<float> rows_of(const Layout& layout, std::span<const float> features) {
  if (!layout.any_counts()) { return {features.begin(), features.end()}; }
  const std::size_t count = features.size() / layout.num_features();
  std::vector<float> rows(count * layout.size());
  for (std::size_t i = 0; i < count; ++i) {
    layout.collect(features.subspan(i * layout.num_features(), layout.num_features()),
                   std::span(rows).subspan(i * layout.size(), layout.size()));
  }
  return rows;
}

void require_size(const char* what, py::ssize_t size, py::ssize_t rows, std::size_t width) {
  if (size != rows * static_cast<py::ssize_t>(width)) {
    throw UsageError(std::string("predict: ") + what + " holds " + std::to_string(size) +
                     " numbers for " + std::to_string(rows) + " rows of " + std::to_string(width));
  }
}

}  // namespace

py::array predict(const EnvSpec& spec, const Question& question, const Act& act) {
  const auto& [obs, legal, seed, step] = question;
  const ActionSpec& action = spec.action;
  const py::ssize_t count = obs.shape(0);
  const auto dims = static_cast<py::ssize_t>(action.dims());
  require_size("obs", obs.size(), count, spec.obs.num_features());
  if (legal) { require_size("legal", legal->size(), count, action.num_actions()); }
  py::array_t<std::int64_t> choices({action.continuous() ? 0 : count, dims});
  py::array_t<float> points({action.continuous() ? count : 0, dims});
  const std::vector<float> rows = rows_of(spec.obs, span_of(obs));
  ActRows ask{.count = static_cast<std::size_t>(count), .obs = rows};
  if (legal) { ask.legal = span_of(*legal); }
  const ActResult into{.choices = memory_of(choices), .env_points = memory_of(points)};
  const ActionNoise noise{.seed = seed.value_or(0), .first_env = 0, .step = step};
  if (ask.count > 0) {
    const py::gil_scoped_release unlocked;
    act(ask, into, seed ? &noise : nullptr);
  }
  if (action.continuous()) { return points; }
  return choices;
}

}  // namespace penstock::python
