#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "penstock/core/base/config.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/moments.h"
#include "penstock/core/base/shuffle.h"

using namespace penstock;

TEST_CASE("moments are the textbook's mean and variance, also where numbers are large and close") {
  // Numbers whose squares do not fit into a double's digits: the naive formula gives 0 or worse.
  Moments moments;
  for (const double x : {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}) { moments.add(x); }
  CHECK(moments.mean == 1e9 + 10);
  CHECK(moments.variance() == doctest::Approx(22.5));
  CHECK(Moments{}.variance() == 1);
  Moments one;
  one.add(-3);
  CHECK(one.mean == -3);
  CHECK(one.variance() == 0);
}

TEST_CASE("merging with nothing changes nothing, and merging is the moments of all") {
  Moments some;
  for (const double x : {1.0, 2.0, 6.0}) { some.add(x); }
  Moments same = some;
  same.merge({});
  CHECK(same.count == 3);
  CHECK(same.mean == some.mean);
  CHECK(same.m2 == some.m2);
  Moments empty;
  empty.merge(some);
  CHECK(empty.count == 3);
  CHECK(empty.mean == doctest::Approx(3));
  CHECK(empty.variance() == doctest::Approx((4 + 1 + 9) / 3.0));
  // A hundred times one number moves the mean there, and the variance by the parallel formula.
  Moments many{.count = 100, .mean = 10, .m2 = 0};
  many.merge(some);
  CHECK(many.mean == doctest::Approx(1009.0 / 103));
  CHECK(many.m2 == doctest::Approx(14 + 49 * 300.0 / 103));
}

TEST_CASE("a shuffle gives every order equally often, and keeps every item") {
  Random random(11);
  std::map<std::vector<int>, int> seen;
  constexpr int kDraws = 24'000;
  for (int i = 0; i < kDraws; ++i) {
    std::vector<int> items = {0, 1, 2, 3};
    shuffle(items, random);
    ++seen[items];
  }
  REQUIRE(seen.size() == 24);
  double chi2 = 0;
  for (const auto& [order, count] : seen) { chi2 += std::pow(count - kDraws / 24.0, 2) / 1000.0; }
  CHECK(chi2 < 60);  // 23 degrees of freedom: beyond once in 30,000 seeds
}

TEST_CASE("a shuffle of nothing or of one draws nothing") {
  for (const std::size_t size : {0U, 1U}) {
    Random used(5);
    Random fresh(5);
    std::vector<int> items(size, 7);
    shuffle(items, used);
    CHECK(used.next() == fresh.next());
  }
}

TEST_CASE("JSON that is none is discarded or thrown, and never anything else") {
  for (const char* text : {"", "{", "[1,]", "nul", "{\"a\":}", "\"\xff\"", "1 2", "NaN"}) {
    CAPTURE(text);
    CHECK(try_parse_json(text).is_discarded());
    CHECK(try_parse_ordered_json(text).is_discarded());
    CHECK_THROWS_AS(parse_json(text), Json::parse_error);
  }
  CHECK_THROWS_AS(parse_json("1e999"), Json::out_of_range);
}

TEST_CASE("JSON whose keys keep their order has a bounded number of them") {
  const auto object = [](std::size_t keys) {
    std::string text = "{\"\":0";
    for (std::size_t i = 1; i < keys; ++i) { text += ",\"" + std::to_string(i % 10) + "\":0"; }
    return text + "}";
  };
  CHECK(try_parse_ordered_json(object(20'000)).is_object());
  CHECK(try_parse_ordered_json(object(20'001)).is_discarded());
  CHECK(try_parse_json(object(20'001)).is_object());
}

TEST_CASE("JSON is read up to 64 levels deep, whatever its strings hold") {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  CHECK(try_parse_json(nested(64)).is_array());
  CHECK(try_parse_json(nested(64).substr(1)).is_discarded());
  for (const std::size_t depth : {65, 100'000}) {
    CHECK(try_parse_json(nested(depth)).is_discarded());
    CHECK(try_parse_ordered_json(nested(depth)).is_discarded());
    CHECK_THROWS_WITH_AS(parse_json(nested(depth)), doctest::Contains("64 levels"),
                         Json::parse_error);
  }
  const std::string brackets(100, '[');
  CHECK(parse_json("[\"" + brackets + "\\\"" + brackets + "\"]").size() == 1);
  CHECK(parse_json("[[], [], {}]").size() == 3);
}

TEST_CASE("JSON is read up to a size") {
  CHECK(parse_json("[1, 2]", {.max_bytes = 6}).size() == 2);
  CHECK_THROWS_WITH_AS(parse_json("[1, 2]", {.max_bytes = 5}), doctest::Contains("at most 5"),
                       Json::parse_error);
}

TEST_CASE("JSON gives a whole number only as the one that it holds") {
  const auto as = [](const char* text, auto like) {
    return parse_json(text).get<std::vector<decltype(like)>>().at(0);
  };
  CHECK(as("[-9223372036854775808]", std::int64_t{}) == std::numeric_limits<std::int64_t>::min());
  CHECK(as("[18446744073709551615]", std::uint64_t{}) == std::numeric_limits<std::uint64_t>::max());
  CHECK(as("[-128.0]", std::int8_t{}) == -128);
  CHECK(as("[1e3]", int{}) == 1000);
  CHECK(as("[-0.0]", std::size_t{}) == 0);
  for (const char* text : {"[1e19]", "[9223372036854775808]", "[9223372036854775808.0]",
                           "[-9223372036854777856.0]", "[0.5]", "[1e300]"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(as(text, std::int64_t{}), Json::out_of_range);
  }
  for (const char* text : {"[-1]", "[-1e-9]", "[18446744073709551616]"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(as(text, std::uint64_t{}), Json::out_of_range);
  }
  CHECK_THROWS_WITH_AS(as("[128]", std::int8_t{}), doctest::Contains("from -128 to 127"),
                       Json::out_of_range);
  CHECK_THROWS_AS(as("[\"7\"]", int{}), Json::type_error);
  CHECK_THROWS_AS(parse_ordered_json("[4294967296]")[0].get<int>(), Json::out_of_range);
}

TEST_CASE("JSON is written on one line or indented, in its order, and refuses bad text") {
  const OrderedJson kept = parse_ordered_json(R"({"b": 1, "a": [0.1, true, null]})");
  CHECK(to_text(kept) == R"({"b":1,"a":[0.1,true,null]})");
  CHECK(to_text(parse_json(R"({"b": 1, "a": 2})")) == R"({"a":2,"b":1})");
  CHECK(to_text(parse_json("[1]"), 2) == "[\n  1\n]");
  const Json bad = std::string("a\xff z");
  CHECK_THROWS_AS(to_text(bad), Json::type_error);
  CHECK(to_text(bad, -1, BadUtf8::replace) == "\"a\xef\xbf\xbd z\"");
}

TEST_CASE("doubles survive JSON to the last bit") {
  for (const double x : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0, 123456789.123456789}) {
    CHECK(parse_json(to_text(Json(x))).get<double>() == x);
  }
}

namespace {

struct Sizes {
  std::vector<std::int64_t> hidden = {1};
  std::int64_t steps = 64;
  double rate = 0.5;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit("hidden", hidden, "sizes", Range{1, 100});
    visit("steps", steps, "steps", Range{0, 1e15, true});
    visit("rate", rate, "a share", Range{0, 1});
  }
};

Sizes sizes_from(const std::string& assignment) {
  Sizes sizes;
  std::vector<Field> fields = fields_of(sizes);
  Settings settings;
  settings.add_assignment(assignment, "--set");
  penstock::apply(fields, settings);
  return sizes;
}

}  // namespace

TEST_CASE("whole numbers are read as people write them, and not rounded") {
  CHECK(sizes_from("steps=1_000_000").steps == 1'000'000);
  CHECK(sizes_from("steps=1e6").steps == 1'000'000);
  CHECK(sizes_from("steps=2.5e3").steps == 2500);
  CHECK(sizes_from("steps=auto").steps == 0);
  for (const char* wrong :
       {"steps=2.5", "steps=1e16", "steps=0x10", "steps=", "steps=_", "steps=-1", "steps=1e-3",
        "steps=nan", "steps=inf", "steps=12 3", "steps=Auto"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(sizes_from(wrong), ConfigError);
  }
}

TEST_CASE("lists take brackets or none, and every item meets the range") {
  CHECK(sizes_from("hidden=64,32").hidden == std::vector<std::int64_t>{64, 32});
  CHECK(sizes_from("hidden=[ 64 , 32 ]").hidden == std::vector<std::int64_t>{64, 32});
  CHECK(sizes_from("hidden=[]").hidden.empty());
  for (const char* wrong : {"hidden=64,,32", "hidden=[64", "hidden=64]", "hidden=64,101",
                            "hidden=64,0", "hidden=64;32", "hidden=[[64]]", "hidden=64,auto"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(sizes_from(wrong), ConfigError);
  }
}

TEST_CASE("numbers that are none, or beyond their range, are refused") {
  CHECK(sizes_from("rate=1").rate == 1);
  CHECK(sizes_from("rate=1e-300").rate == 1e-300);
  CHECK(sizes_from("rate= 0.5 ").rate == 0.5);
  for (const char* wrong : {"rate=1.0000001", "rate=-0.1", "rate=nan", "rate=inf", "rate=0,5",
                            "rate=50%", "rate=1e999", "rate= "}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(sizes_from(wrong), ConfigError);
  }
}
