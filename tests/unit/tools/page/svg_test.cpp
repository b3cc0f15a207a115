#include "penstock/tools/page/svg.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace penstock::page;

namespace {

/// What the picture holds between its own tag and its end.
std::string drawn(const Svg& svg) {
  const std::string whole = svg.str();
  const std::size_t begin = whole.find(">\n") + 2;
  return whole.substr(begin, whole.rfind("</svg>") - begin);
}

Svg empty_picture() { return Svg(100, 50, "picture"); }

/// 1, 2 or 5 times a power of ten.
bool is_round(double step) {
  const double mantissa = step / std::pow(10.0, std::floor(std::log10(step) + 1e-9));
  for (const double round : {1.0, 2.0, 5.0}) {
    if (std::abs(mantissa - round) < 1e-6) { return true; }
  }
  return false;
}

}  // namespace

TEST_CASE("an axis is linear from end to end, and upside down where pixels run down") {
  const Axis up(10, 20, 200, 0);
  CHECK(up(10) == 200);
  CHECK(up(20) == 0);
  CHECK(up(15) == doctest::Approx(100));
  CHECK(up(25) == doctest::Approx(-100));  // beyond the end, on the same line
}

TEST_CASE("ticks are round, evenly spaced, inside the axis and about as many as asked") {
  for (const double low : {-3.7, 0.0, 0.013, 99.0, -1e3}) {
    for (const double span : {0.05, 0.7, 1.0, 9.99, 250.0, 1e7}) {
      for (const int about : {2, 5, 10}) {
        CAPTURE(low);
        CAPTURE(span);
        CAPTURE(about);
        const std::vector<double> ticks = Axis(low, low + span, 0, 1, about).ticks();
        REQUIRE(!ticks.empty());
        CHECK(ticks.size() <= static_cast<std::size_t>(about) + 1);
        CHECK(ticks.front() >= low - 1e-6 * span);
        CHECK(ticks.back() <= low + span * (1 + 1e-6));
        if (ticks.size() < 2) { continue; }
        const double step = ticks[1] - ticks[0];
        CHECK(is_round(step));
        CHECK(span / step >= 0.399 * about);  // at most 2.5 times the even share
        for (const double tick : ticks) {
          CHECK(std::abs(tick / step - std::round(tick / step)) < 1e-3);
        }
      }
    }
  }
}

TEST_CASE("both ends are ticks where they are round, whatever their rounding") {
  const std::vector<double> tenths = Axis(0, 0.3, 0, 1, 3).ticks();  // 3 * 0.1 is above 0.3
  REQUIRE(tenths.size() == 4);
  CHECK(tenths[0] == 0);
  CHECK(tenths[3] == doctest::Approx(0.3));
  const std::vector<double> around = Axis(-0.3, 0.3, 0, 1, 6).ticks();
  REQUIRE(around.size() == 7);
  CHECK(around[3] == 0);  // exactly, not 5e-17
}

TEST_CASE("an axis without extent is one wide, so that a single value has a place") {
  for (const double high : {7.0, 3.0}) {  // equal, and the wrong way round
    const Axis axis(7, high, 100, 200);
    CHECK(axis.high() == 8);
    CHECK(axis(7) == 100);
    CHECK(std::isfinite(axis(7.5)));
    CHECK(!axis.ticks().empty());
  }
}

TEST_CASE("an axis of what is not a number has no ticks, and ends") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(Axis(nan, nan, 0, 1).ticks().empty());
  CHECK(Axis(0, nan, 0, 1).high() == 1);
  CHECK(Axis(0, infinity, 0, 1).ticks().empty());
  CHECK(Axis(-infinity, 0, 0, 1).ticks().empty());
}

TEST_CASE("an axis finer than the numbers on it ends") {
  CHECK(Axis(1e16, 1e16 + 2, 0, 1).ticks() == std::vector<double>{1e16});
  CHECK(Axis(-1e16 - 2, -1e16, 0, 1).ticks().size() <= 2);
  const Axis point(1e17, 1e17, 0, 1);  // one more is no other number
  CHECK(point.high() > point.low());
  CHECK(std::isfinite(point(1e17)));
}

TEST_CASE("labels have as many digits as tell ticks apart") {
  CHECK(Axis(0, 10, 0, 1).label(4) == "4");
  CHECK(Axis(0, 1, 0, 1).label(0.4) == "0.4");
  CHECK(Axis(0, 0.1, 0, 1).label(0.04) == "0.04");
  CHECK(Axis(-10, 0, 0, 1).label(-4) == "\u22124");
  CHECK(Axis(0, 50000, 0, 1).label(20000) == "20k");
  CHECK(Axis(-50000, 0, 0, 1).label(-20000) == "\u221220k");
  CHECK(Axis(0, 4000, 0, 1).label(4000) == "4000");
  for (const double span : {0.03, 0.9, 1.0, 7.0, 60.0, 900.0}) {
    CAPTURE(span);
    const Axis axis(0, span, 0, 1);
    for (std::size_t i = 1; i < axis.ticks().size(); ++i) {
      CHECK(axis.label(axis.ticks()[i]) != axis.label(axis.ticks()[i - 1]));
    }
  }
}

TEST_CASE("a path starts with a move and draws a line to each further point") {
  Svg svg = empty_picture();
  svg.path({{0, 1}, {2.25, 3}, {4, 5.06}}, "curve");
  CHECK(drawn(svg) == "<path d=\"M0.0 1.0L2.2 3.0L4.0 5.1\" class=\"curve\"/>\n");
}

TEST_CASE("paths and bands of no points draw nothing, of one point a place") {
  Svg svg = empty_picture();
  svg.path({}, "curve", "tooltip");
  svg.band({}, {}, "band");
  CHECK(drawn(svg).empty());
  svg.path({{1, 2}}, "curve");
  CHECK(drawn(svg) == "<path d=\"M1.0 2.0\" class=\"curve\"/>\n");
}

TEST_CASE("a band runs along the low line, back along the high one, and closes") {
  Svg svg = empty_picture();
  svg.band({{0, 10}, {5, 11}}, {{0, 2}, {5, 3}}, "band");
  CHECK(drawn(svg) == "<path d=\"M0.0 10.0L5.0 11.0L5.0 3.0L0.0 2.0Z\" class=\"band\"/>\n");
}

TEST_CASE("a shape with a tooltip carries it as text, one without closes itself") {
  Svg svg = empty_picture();
  svg.circle(1, 2, 3, "dot", "a<b");
  svg.rect(1, 2, 3, 4, "cell", "rx=\"2\"");
  CHECK(drawn(svg) ==
        "<circle cx=\"1.0\" cy=\"2.0\" r=\"3.0\" class=\"dot\"><title>a&lt;b</title></circle>\n"
        "<rect x=\"1.0\" y=\"2.0\" width=\"3.0\" height=\"4.0\" class=\"cell\" rx=\"2\"/>\n");
}

TEST_CASE("a frame draws a grid line per tick of y, a mark per tick of x, and both names") {
  const Axis x(0, 10, 20, 120, 5);
  const Axis y(0, 1, 80, 10, 2);
  Svg svg = empty_picture();
  svg.frame(x, y, "steps", "loss & reward");
  const std::string body = drawn(svg);
  const auto times = [&](const std::string& part) {
    std::size_t count = 0;
    for (auto at = body.find(part); at != std::string::npos; at = body.find(part, at + 1)) {
      ++count;
    }
    return count;
  };
  CHECK(times("class=\"grid\"") == y.ticks().size());
  CHECK(times("class=\"axis\"") == x.ticks().size() + 1);  // and the axis itself
  CHECK(times("class=\"tick mid\"") == x.ticks().size());
  CHECK(times("class=\"tick end\"") == y.ticks().size());
  // y = 0.5 lies halfway: pixel 45, over the whole width of x.
  CHECK(times("<line x1=\"20.0\" y1=\"45.0\" x2=\"120.0\" y2=\"45.0\" class=\"grid\"/>") == 1);
  CHECK(times(">steps</text>") == 1);
  CHECK(times(">loss &amp; reward</text>") == 1);
}

TEST_CASE("a picture tells its size and its name to those who cannot see it") {
  const std::string text = Svg(640, 12.5, "reward \"by\" step").str();
  CHECK(text.find("viewBox=\"0 0 640 12.5\"") != std::string::npos);
  CHECK(text.find("width=\"640\" height=\"12.5\"") != std::string::npos);
  CHECK(text.find("aria-label=\"reward &quot;by&quot; step\"") != std::string::npos);
  CHECK(text.ends_with("</svg>\n"));
}
