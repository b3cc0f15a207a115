#include "penstock/core/base/errors.h"

#include <doctest/doctest.h>

#include "penstock/core/base/check.h"

using penstock::did_you_mean;
using penstock::nearest;

namespace {

const std::vector<std::string> kEnvs = {"cartpole", "pendulum", "acrobot"};

std::string message_of_failed_check(int rows, int num_envs) {
  try {
    PENSTOCK_CHECK(rows, ==, num_envs);
  } catch (const std::logic_error& error) { return error.what(); }
  return "";
}

}  // namespace

TEST_CASE("nearest finds misspellings and leaves strangers alone") {
  CHECK(nearest("cartpol", kEnvs) == "cartpole");
  CHECK(nearest("pendlum", kEnvs) == "pendulum");
  CHECK(nearest("acrobat", kEnvs) == "acrobot");
  CHECK(nearest("xyz", kEnvs).empty());
  CHECK(nearest("", kEnvs).empty());
  CHECK(nearest("cartpole", std::vector{std::string(1'000'000, 'c'), std::string("cartpoles")}) ==
        "cartpoles");
  CHECK(nearest("cartpole", {}).empty());
}

TEST_CASE("did_you_mean is a tail for a message, or nothing") {
  CHECK(did_you_mean("cartpol", kEnvs) == ", did you mean 'cartpole'?");
  CHECK(did_you_mean("xyz", kEnvs).empty());
}

TEST_CASE("each error carries the exit code of its kind") {
  CHECK(penstock::ConfigError("").exit() == penstock::Exit::bad_config);
  CHECK(penstock::UsageError("").exit() == penstock::Exit::usage);
  CHECK(penstock::DataError("").exit() == penstock::Exit::bad_data);
  CHECK(penstock::IoError("").exit() == penstock::Exit::failed);
  CHECK(penstock::IoError("", penstock::Exit::cannot_create).exit() ==
        penstock::Exit::cannot_create);
  CHECK(static_cast<int>(penstock::Exit::preempted) == 75);
}

TEST_CASE("a failed check prints both operands and the place") {
  CHECK(message_of_failed_check(4, 4).empty());
  const std::string message = message_of_failed_check(3, 4);
  CHECK(message.find("rows == num_envs: 3 vs 4") != std::string::npos);
  CHECK(message.find("errors_test.cpp:") != std::string::npos);
}
