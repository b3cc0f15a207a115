#include "penstock/core/fused/isa.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "penstock/core/base/errors.h"

using namespace penstock;

TEST_CASE("an instruction set is pinned by name, and auto takes the best") {
  const std::vector<std::string> there = fused::supported_isas();
  REQUIRE(!there.empty());
  for (const std::string& isa : there) {
    fused::use_isa(isa);
    CHECK(fused::current_isa() == isa);
    CHECK(fused::supported_isas() == there);
  }
  fused::use_isa("auto");
  CHECK(fused::current_isa() == there.front());
}

TEST_CASE("an instruction set that is not there is refused with those that are") {
  for (const std::string& isa : fused::supported_isas()) {
    fused::use_isa(isa);
    CHECK_THROWS_WITH_AS(fused::use_isa("mmx"), doctest::Contains("this machine has"), ConfigError);
    CHECK(fused::current_isa() == isa);
  }
  fused::use_isa("auto");
}
