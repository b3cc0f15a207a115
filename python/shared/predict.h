#pragma once
#include <pybind11/pybind11.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "penstock/core/act/actor.h"
#include "shared/dense.h"

namespace penstock::python {

namespace py = pybind11;

// Shapes: n rows, F features, A alternatives, D numbers per action.

/// What predict() is asked, lent for the call.
struct Question {
  const Dense<float>& obs;                  // [n, F]
  const std::optional<Dense<bool>>& legal;  // [n, A]; none: every action is legal
  std::optional<std::uint64_t> seed;        // none: the most likely actions
  std::uint64_t step = 0;
};

/// As Actor::act().
using Act = std::function<void(const ActRows&, const ActResult&, const ActionNoise*)>;

/// Actions [n, D] for rows [n, F]; sampled with the numbers of (seed, row, step), or the most
/// likely ones when there is no seed. `act` is called without the interpreter's lock.
py::array predict(const EnvSpec& spec, const Question& question, const Act& act);

}  // namespace penstock::python
