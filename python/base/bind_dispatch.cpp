#include <optional>
#include <string>
#include <vector>

#include "bind.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/dispatch/checker.h"
#include "penstock/domains/booking/dispatch/convert.h"
#include "penstock/domains/booking/dispatch/files.h"
#include "penstock/domains/booking/dispatch/solve.h"
#include "penstock_docs.h"

namespace penstock::python {
namespace {

using namespace booking::dispatch;

double units(Money money) { return static_cast<double>(money) / static_cast<double>(kUnit); }

/// A plan whose problems, requests and solutions are texts: penstock.booking turns them into dicts.
class TextPlan {
 public:
  explicit TextPlan(Schedule plan) : plan_(std::move(plan)), names_(plan_.problem()) {}

  static TextPlan solved(const std::string& problem, const SolveConfig& config) {
    return TextPlan(solve(read_any(problem, "problem", booking::Convention::dimacs), config));
  }
  static TextPlan empty(const std::string& problem) {
    return TextPlan(Schedule(read_any(problem, "problem", booking::Convention::dimacs)));
  }

  py::dict quote(const std::string& request) {
    Quote found;
    {
      const py::gil_scoped_release unlocked;
      found = plan_.quote(read_request(request, "request", names_));
    }
    if (!found.where.fits()) {
      return py::dict(py::arg("fits") = false, py::arg("why") = name_of(found.obstacle));
    }
    const auto vehicle = static_cast<std::size_t>(found.where.vehicle);
    return py::dict(py::arg("fits") = true, py::arg("cost") = units(found.added),
                    py::arg("km") = static_cast<double>(found.added_metres) / 1000,
                    py::arg("minutes") = static_cast<double>(found.added_seconds) / 60,
                    py::arg("vehicle") = plan_.problem().vehicles[vehicle].id.text,
                    py::arg("start") = plan_.problem().told(found.start));
  }
  bool insert(const std::string& request) {
    return plan_.insert(read_request(request, "request", names_)).has_value();
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
  [[nodiscard]] const Schedule& plan() const { return plan_; }

 private:
  Schedule plan_;
  Problem names_;  // reading a request may add the name of a skill that nobody has
};

std::vector<std::string> check_texts(const std::string& problem, const std::string& solution) {
  return check(read_any(problem, "problem", booking::Convention::dimacs),
               read_solution(solution, "solution"));
}

}  // namespace

void bind_dispatch(py::module_& m) {
  py::class_<TextPlan>(m, "TextPlan", docs::Schedule)
      .def(py::init(&TextPlan::empty), py::arg("problem"), docs::read_problem)
      .def_static(
          "solved",
          [](const std::string& problem, double seconds, std::int64_t iterations,
             std::uint64_t seed) {
            const py::gil_scoped_release unlocked;
            return TextPlan::solved(problem,
                                    {.seconds = seconds, .iterations = iterations, .seed = seed});
          },
          py::arg("problem"), py::arg("seconds"), py::arg("iterations"), py::arg("seed"),
          docs::solve)
      .def("quote", &TextPlan::quote, py::arg("request"), docs::Schedule_quote)
      .def("insert", &TextPlan::insert, py::arg("request"), docs::Schedule_insert)
      .def("remove", &TextPlan::remove, py::arg("id"), docs::Schedule_remove)
      .def("improve", &TextPlan::improve, py::arg("iterations"), py::arg("seed"),
           docs::Schedule_improve)
      .def(
          "cost", [](const TextPlan& self) { return units(self.plan().cost()); },
          "In the units of the problem.")
      .def(
          "problem", [](const TextPlan& self) { return problem_json(self.plan().problem()); },
          docs::problem_json)
      .def(
          "solution", [](const TextPlan& self) { return solution_json(self.plan()); },
          docs::solution_json)
      .def(
          "geojson", [](const TextPlan& self) { return geojson(self.plan()); }, docs::geojson);
  m.def("check_plan", check_texts, py::arg("problem"), py::arg("solution"), docs::check);
}

}  // namespace penstock::python
