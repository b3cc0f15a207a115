#include <optional>
#include <string>
#include <vector>

#include "penstock/domains/booking/dispatch/checker.h"
#include "penstock_docs.h"
#include "text_plan.h"

namespace penstock::python {
namespace {

using namespace booking::dispatch;

double units(Money money) { return static_cast<double>(money) / static_cast<double>(kUnit); }

/// The bookings of a CSV as the jobs of a fleet, as JSON.
std::string booked_problem(const std::string& bookings, const std::string& fleet,
                           const std::optional<std::string>& date) {
  Problem problem = read_problem(fleet, "fleet");
  add_bookings(read_bookings(bookings, "bookings"), date, problem);
  return problem_json(problem);
}

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
  m.def("booked_problem", booked_problem, py::arg("bookings"), py::arg("fleet"), py::arg("date"),
        docs::add_bookings);
  m.def("check_plan", check_texts, py::arg("problem"), py::arg("solution"), docs::check);
}

}  // namespace penstock::python
