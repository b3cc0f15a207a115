#include "penstock/app/envs/envs.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "penstock/core/base/errors.h"

namespace penstock {
namespace {

TEST_CASE("every env of the table is found by its name, and names are unique") {
  const EnvCatalog catalog = default_envs();
  std::set<std::string> names;
  for (const EnvEntry& entry : catalog.envs) {
    CAPTURE(entry.name);
    CHECK(names.insert(entry.name).second);
    CHECK(catalog.env(entry.name)->spec().obs.size() > 0);
  }
  CHECK(names.contains("cartpole"));
  CHECK(names.contains("cage2"));
  CHECK(names.contains("dvrptw"));
}

TEST_CASE("a name that is not in the table may mean an env of Python") {
  const EnvCatalog catalog = default_envs();
  CHECK(catalog.env("CartPole-v1") != nullptr);  // no interpreter is started yet
  CHECK(catalog.env("my_pkg:make_env") != nullptr);
}

TEST_CASE("what is in the table goes before what other_env makes of its name") {
  EnvCatalog catalog = default_envs();
  catalog.other_env = [](const std::string& name) {
    return default_envs().env(name == "mine" ? "pendulum" : "acrobot");
  };
  CHECK_FALSE(catalog.env("cartpole")->spec().action.continuous());
  CHECK(catalog.env("cartpole")->spec().obs.size() == 4);
  CHECK(catalog.env("mine")->spec().action.continuous());
}

TEST_CASE("an unknown name is refused with what there is and the nearest spelling") {
  const EnvCatalog catalog = default_envs();
  CHECK_THROWS_WITH_AS((void)catalog.env("cartpol"),
                       doctest::Contains("env.id = cartpol: not one of"), ConfigError);
  CHECK_THROWS_WITH_AS((void)catalog.env("cartpol"), doctest::Contains("did you mean 'cartpole'?"),
                       ConfigError);
  EnvCatalog own;
  CHECK_THROWS_AS((void)own.env("CartPole-v1"), ConfigError);
}

}  // namespace
}  // namespace penstock
