#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "bind.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/dispatch/convert.h"
#include "penstock/domains/booking/dispatch/files.h"
#include "penstock/domains/booking/dispatch/solve.h"

namespace penstock::python {

/// A plan whose problems, requests and solutions are texts: penstock.booking turns them into dicts.
class TextPlan {
 public:
  explicit TextPlan(booking::dispatch::Schedule plan)
      : plan_(std::move(plan)), names_(plan_.problem()) {}

  static TextPlan solved(const std::string& problem, const booking::dispatch::SolveConfig& config) {
    return TextPlan(booking::dispatch::solve(read(problem), config));
  }
  static TextPlan empty(const std::string& problem) {
    return TextPlan(booking::dispatch::Schedule(read(problem)));
  }

  py::dict quote(const std::string& request) {
    booking::dispatch::Quote found;
    {
      const py::gil_scoped_release unlocked;
      found = plan_.quote(this->request(request));
    }
    return told(found);
  }
  [[nodiscard]] py::dict told(const booking::dispatch::Quote& found) const {
    if (!found.where.fits()) {
      return py::dict(py::arg("fits") = false, py::arg("why") = name_of(found.obstacle));
    }
    const auto& problem = plan_.problem();
    const auto units = static_cast<double>(booking::dispatch::kUnit);
    return py::dict(py::arg("fits") = true, py::arg("cost") = found.added / units,
                    py::arg("km") = found.added_metres / 1000.0,
                    py::arg("minutes") = found.added_seconds / 60.0,
                    py::arg("vehicle") = problem.vehicles[found.where.vehicle].id.text,
                    py::arg("start") = problem.told(found.start));
  }
  bool insert(const std::string& request) {
    return plan_.insert(this->request(request)).has_value();
  }
  void remove(const std::string& id) {
    const std::optional<std::int32_t> task = plan_.find(id);
    if (!task) { throw UsageError("the plan has no task '" + id + "'"); }
    if (!plan_.remove(*task)) {
      throw DataError("without task '" + id + "' others would be served too late");
    }
  }
  bool improve(std::int64_t iterations, std::uint64_t seed) {
    const py::gil_scoped_release unlocked;
    return plan_.improve(iterations, seed);
  }
  [[nodiscard]] const booking::dispatch::Schedule& plan() const { return plan_; }
  [[nodiscard]] booking::dispatch::Schedule& plan() { return plan_; }
  booking::dispatch::Request request(const std::string& text) {
    return booking::dispatch::read_request(text, "request", names_);
  }

 private:
  static booking::dispatch::Problem read(const std::string& problem) {
    return booking::dispatch::read_any(problem, "problem", booking::Convention::dimacs);
  }

  booking::dispatch::Schedule plan_;
  booking::dispatch::Problem
      names_;  // reading a request may add the name of a skill that nobody has
};

}  // namespace penstock::python
