#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <limits>

#include "penstock/core/base/config.h"
#include "penstock/core/base/errors.h"

namespace {

struct Inner {
  double rate = 0;
  std::vector<std::int64_t> list;
  bool operator==(const Inner&) const = default;
  template <class Visitor>
  void fields(Visitor& visit) {
    visit("rate", rate, "");
    visit("list", list, "");
  }
};

struct Outer {
  Inner inner;
  std::string text;
  bool flag = false;
  std::int64_t number = 0;
  std::uint64_t seed = 0;
  bool operator==(const Outer&) const = default;
  template <class Visitor>
  void fields(Visitor& visit) {
    visit("inner", inner, "");
    visit("text", text, "");
    visit("flag", flag, "");
    visit("number", number, "");
    visit("seed", seed, "");
  }
};

// Characters that need escapes, and some that are more than one byte.
rc::Gen<std::string> any_text() {
  const auto piece = rc::gen::oneOf(
      rc::gen::map(rc::gen::inRange(0x01, 0x80),
                   [](int c) { return std::string(1, static_cast<char>(c)); }),
      rc::gen::element<std::string>("ü", "→", "𝄞", "\"\"\"", "'''", "\\u", "#", " ", "\r\n"));
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string text;
                        for (const std::string& p : pieces) { text += p; }
                        return text;
                      });
}

rc::Gen<double> any_double() {
  using Limits = std::numeric_limits<double>;
  return rc::gen::oneOf(
      rc::gen::arbitrary<double>(),
      rc::gen::map(rc::gen::arbitrary<std::int32_t>(), [](std::int32_t x) { return x * 1.0; }),
      rc::gen::element(0.0, -0.0, 1e-300, 1e300, 0.1, Limits::max(), Limits::denorm_min(),
                       Limits::infinity(), -Limits::infinity()));
}

Outer any_outer() {
  Outer outer;
  outer.inner.rate = *any_double();
  outer.inner.list = *rc::gen::arbitrary<std::vector<std::int64_t>>();
  outer.text = *any_text();
  outer.flag = *rc::gen::arbitrary<bool>();
  outer.number = *rc::gen::arbitrary<std::int64_t>();
  outer.seed = *rc::gen::arbitrary<std::uint64_t>() >> 1;  // what TOML can hold
  return outer;
}

Outer read_back(const std::string& text) {
  penstock::Settings settings;
  settings.add_toml(text, "dump.toml");
  Outer outer;
  auto fields = penstock::fields_of(outer);
  penstock::apply(fields, settings);
  return outer;
}

}  // namespace

TEST_CASE("any config written by to_toml reads back equal") {
  CHECK(rc::check([] {
    Outer outer = any_outer();
    RC_ASSERT(read_back(to_toml(penstock::fields_of(outer))) == outer);
  }));
}

TEST_CASE("no text given to add_toml or an assignment does worse than an error") {
  CHECK(rc::check([] {
    const auto text = *rc::gen::arbitrary<std::string>();
    try {
      penstock::Settings settings;
      settings.add_toml(text, "hostile.toml");
      settings.add_assignment("number=" + text, "--set");
      Outer outer;
      auto fields = penstock::fields_of(outer);
      penstock::apply(fields, settings);
    } catch (const penstock::Error& error) { RC_ASSERT(!std::string(error.what()).empty()); }
  }));
}
