#include "shared/describe.h"

#include <pybind11/stl.h>

#include <vector>

namespace penstock::python {

py::dict describe(const EnvSpec& spec) {
  py::list parts;
  for (const Part& part : spec.obs.parts()) {
    parts.append(py::make_tuple(part.name, part.shape, part.first_feature));
  }
  py::dict out;
  out["parts"] = parts;
  out["obs_size"] = spec.obs.num_features();
  out["kind"] = spec.action.continuous() ? "box"
                : spec.action.multi()    ? "multi_discrete"
                                         : "discrete";
  out["choices"] = spec.action.choices();
  out["masked"] = spec.action.masked();
  out["low"] = spec.action.continuous() ? spec.action.box().low : std::vector<float>{};
  out["high"] = spec.action.continuous() ? spec.action.box().high : std::vector<float>{};
  out["max_episode_steps"] = spec.max_episode_steps;
  return out;
}

}  // namespace penstock::python
