#include "penstock/core/base/program.h"

#include <doctest/doctest.h>

#include <stdexcept>

#include "penstock/core/base/errors.h"

namespace penstock {
namespace {

TEST_CASE("a program's lines are told as they are, and its exit code is given") {
  std::vector<std::string> lines;
  const auto keep = [&](const std::string& line) { lines.push_back(line); };
  CHECK(run_program({"sh", "-c", "echo one; echo; printf two; exit 7"}, "--python", keep) == 7);
  CHECK(lines == std::vector<std::string>{"one", "", "two"});
}

TEST_CASE("words are words: no shell looks at them") {
  std::vector<std::string> lines;
  const auto keep = [&](const std::string& line) { lines.push_back(line); };
  CHECK(run_program({"printf", "%s", "$(id) ; *"}, "--python", keep) == 0);
  CHECK(lines == std::vector<std::string>{"$(id) ; *"});
}

TEST_CASE("a program that is ended by a signal, and one that is not there") {
  CHECK(run_program({"sh", "-c", "kill -9 $$"}, "--python", [](const std::string&) {}) == 128 + 9);
  CHECK_THROWS_WITH_AS(run_program({"no-such-python"}, "--python", [](const std::string&) {}),
                       "--python no-such-python: No such file or directory", UsageError);
}

TEST_CASE("a program does not outlive a reader that gives up") {
  const auto give_up = [](const std::string&) { throw std::runtime_error("enough"); };
  CHECK_THROWS_WITH(run_program({"sh", "-c", "echo line; exec sleep 600"}, "--python", give_up),
                    "enough");
}

}  // namespace
}  // namespace penstock
