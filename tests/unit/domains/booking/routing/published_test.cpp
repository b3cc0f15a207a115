// The checker confirms published solutions at their published cost, each in its own convention.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "penstock/core/base/text_file.h"
#include "penstock/domains/booking/routing/checker.h"
#include "penstock/domains/booking/routing/parsers.h"
#include "unit/domains/booking/routing/data.h"

namespace penstock::booking::published_test {
namespace {

namespace fs = std::filesystem;

std::vector<std::int32_t> all_requests(const Instance& instance) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(instance.num_requests()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

struct Published {
  Cost cost = 0;
  std::size_t arcs = 0;
  std::size_t routes = 0;
  std::optional<double> told;
};

/// Checks the plan and adds it up.
Published confirm(const ParsedInstance& parsed, const fs::path& file) {
  const Solution solution = parse_solution(read_text(file.string()), file.filename().string());
  const Plan plan = plan_of(solution, parsed, file.filename().string());
  const auto violation = find_violation(parsed.instance, plan, all_requests(parsed.instance));
  CHECK_MESSAGE(!violation, file.filename().string(), ": ", violation.value_or(""));
  Published found{.cost = cost_of(parsed.instance, plan), .told = solution.cost};
  for (const auto& route : plan.routes) {
    found.arcs += route.empty() ? 0 : route.size() + 1;
    found.routes += route.empty() ? 0 : 1;
  }
  return found;
}

ParsedInstance read(const fs::path& file, Convention convention) {
  const std::string text = read_text(file.string());
  const std::string name = file.filename().string();
  if (file.extension() == ".vrp" || convention == Convention::ortec) {
    return parse_vrplib(text, name, convention);
  }
  return file.parent_path().filename() == "lilim_pdptw" ? parse_lilim(text, name, convention)
                                                        : parse_solomon(text, name, convention);
}

void confirm_folder(const std::string& folder, const std::string& extension, Convention convention,
                    std::size_t expected) {
  const auto files = data_files(folder, ".sol");
  if (files.empty()) {
    MESSAGE("skipped, no benchmarks in ", data_folder().string());
    return;
  }
  CHECK(files.size() == expected);
  for (const fs::path& file : files) {
    CAPTURE(file.filename().string());
    const auto parsed = read(fs::path(file).replace_extension(extension), convention);
    const Published found = confirm(parsed, file);
    REQUIRE(found.told.has_value());
    CHECK(found.cost == std::llround(*found.told * units_of(convention)));
  }
}

TEST_CASE("Solomon's best known costs, truncated to tenths") {
  confirm_folder("solomon100", ".txt", Convention::dimacs, 56);
}
TEST_CASE("Gehring and Homberger's best known costs, truncated to tenths, from VRPLIB files") {
  confirm_folder("homberger", ".vrp", Convention::dimacs, 12);
}
TEST_CASE("ORTEC's best known costs in seconds") {
  confirm_folder("ortec", ".txt", Convention::ortec, 30);
}

TEST_CASE("SINTEF's best known solutions at their exact costs and numbers of vehicles") {
  const auto files = data_files("bks_solutions", ".txt");
  if (files.empty()) {
    MESSAGE("skipped, no benchmarks in ", data_folder().string());
    return;
  }
  CHECK(files.size() == 260);
  for (const fs::path& file : files) {
    // lc101.10_828.9369.txt: instance, vehicles, distance
    const std::string name = file.stem().string();
    CAPTURE(name);
    const std::size_t dot = name.find('.');
    const std::size_t bar = name.find('_', dot);
    fs::path instance = data_folder() / "lilim_pdptw" / (name.substr(0, dot) + ".txt");
    if (!fs::exists(instance)) { instance = data_folder() / "homberger" / instance.filename(); }
    const Published found = confirm(read(instance, Convention::sintef), file);
    CHECK(found.routes == std::stoul(name.substr(dot + 1, bar - dot - 1)));
    // Every arc is rounded to a unit, and so was the published sum.
    const double told = std::stod(name.substr(bar + 1)) * units_of(Convention::sintef);
    CHECK(std::abs(static_cast<double>(found.cost) - told) <=
          0.5 * static_cast<double>(found.arcs) + 0.5);
  }
}

TEST_CASE("every dial-a-ride instance is read") {
  const auto files = data_files("darp_cordeau", ".txt");
  if (files.empty()) {
    MESSAGE("skipped, no benchmarks in ", data_folder().string());
    return;
  }
  CHECK(files.size() == 62);
  for (const fs::path& file : files) {
    const auto parsed =
        parse_cordeau(read_text(file.string()), file.filename().string(), Convention::sintef);
    const Instance& instance = parsed.instance;
    CAPTURE(file.filename().string());
    const std::string stem = file.stem().string();
    if (const std::size_t dash = stem.find('-'); dash != std::string::npos) {  // a2-16
      CHECK(instance.vehicles == std::stoi(stem.substr(1, dash - 1)));
      CHECK(instance.num_requests() == std::stoi(stem.substr(dash + 1)));
    }
    CHECK(instance.max_ride > 0);
    for (std::int32_t i = 0; i < instance.num_requests(); ++i) {
      const auto first = static_cast<std::size_t>(instance.first_node(i));
      REQUIRE(instance.nodes[first].load + instance.nodes[first + 1].load == 0);
      REQUIRE(instance.nodes[first].load > 0);
    }
  }
}

}  // namespace
}  // namespace penstock::booking::published_test
