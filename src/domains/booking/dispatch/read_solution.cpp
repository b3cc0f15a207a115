#include <fmt/format.h>

#include <map>

#include "domains/booking/dispatch/read_fields.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/dispatch/files.h"

namespace penstock::booking::dispatch {
namespace {

constexpr std::size_t kMostSteps = 2 * kMostTasks + 50;

Time whole_time(const JsonField& field) {
  const double value =
      field.number(-static_cast<double>(kLastTime), static_cast<double>(kLastTime));
  return static_cast<Time>(value);
}

/// Fields that a solution has beside these are of no concern here.
Step read_step(const JsonField& field) {
  static const std::map<std::string, Step::Kind, std::less<>> kKinds = {
      {"start", Step::Kind::start},   {"job", Step::Kind::job},
      {"pickup", Step::Kind::pickup}, {"delivery", Step::Kind::delivery},
      {"break", Step::Kind::pause},   {"end", Step::Kind::end}};
  if (!field.json().is_object()) { field.fail("should be an object, { ... }"); }
  const auto kind = kKinds.find(field.at("type").text());
  if (kind == kKinds.end()) {
    field.at("type").fail("should be start, job, pickup, delivery, break or end");
  }
  Step step{.kind = kind->second, .arrival = whole_time(field.at("arrival"))};
  step.start = step.arrival;
  if (field.has("waiting_time")) { step.start += whole_time(field.at("waiting_time")); }
  const bool named = step.kind != Step::Kind::start && step.kind != Step::Kind::end;
  if (named) { step.id = FieldReader::name(field.at("id")); }
  return step;
}

}  // namespace

ToldSolution read_solution(std::string_view text, const std::string& name) {
  Json document;
  try {
    document = parse_json(text);
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{}: not JSON: {}", name, error.what()));
  }
  const JsonField root(document, name);
  if (!document.is_object()) { root.fail("should be an object with \"routes\""); }
  ToldSolution solution;
  const JsonField routes = root.at("routes");
  routes.require_array(kMostVehicles);
  for (std::size_t i = 0; i < routes.size(); ++i) {
    const JsonField route = routes.at(i);
    if (!route.json().is_object()) { route.fail("should be an object, { ... }"); }
    ToldRoute told{.vehicle = FieldReader::name(route.at("vehicle"))};
    const JsonField steps = route.at("steps");
    steps.require_array(kMostSteps);
    for (std::size_t k = 0; k < steps.size(); ++k) { told.steps.push_back(read_step(steps.at(k))); }
    solution.routes.push_back(std::move(told));
  }
  if (root.has("unassigned")) {
    const JsonField list = root.at("unassigned");
    list.require_array(2 * kMostTasks);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const JsonField left = list.at(i);
      if (!left.json().is_object()) { left.fail("should be an object, { ... }"); }
      solution.unserved.push_back(FieldReader::name(left.at("id")));
    }
  }
  const JsonField summary = root.at("summary");
  if (!summary.json().is_object()) { summary.fail("should be an object, { ... }"); }
  solution.cost = static_cast<Money>(summary.at("cost").number(0, 2e12)) * kUnit;
  return solution;
}

}  // namespace penstock::booking::dispatch
