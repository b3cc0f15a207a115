#include "penstock/tools/page/page.h"

#include <doctest/doctest.h>

#include <limits>
#include <set>
#include <string>
#include <vector>

using namespace penstock::page;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

/// What a browser shows for text that escaped() wrote: the four entities, read back.
std::string unescaped(std::string text) {
  const std::pair<std::string, std::string> entities[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}};
  for (const auto& [entity, character] : entities) {
    for (std::size_t at = text.find(entity); at != std::string::npos;
         at = text.find(entity, at + 1)) {
      text.replace(at, entity.size(), character);
    }
  }
  return text;
}

/// Empty where every tag of the page is closed by its own kind, or the first that is not.
std::string unclosed(const std::string& html) {
  const std::set<std::string> single = {"meta", "!doctype"};
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    if (end == std::string::npos) { return html.substr(at); }
    const bool closes = html[at + 1] == '/';
    const std::size_t begin = at + (closes ? 2 : 1);
    const std::string name = html.substr(begin, html.find_first_of(" />", begin) - begin);
    if (html[end - 1] == '/' || single.contains(name)) { continue; }
    if (!closes) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + ">";
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}

}  // namespace

TEST_CASE("what is escaped comes back whole and cannot open a tag, an attribute or an entity") {
  const std::string nasty = "<script>\"&amp;\" > 'x' & \u00fcber\n";
  const std::string safe = escaped(nasty);
  CHECK(safe.find_first_of("<>\"") == std::string::npos);
  CHECK(unescaped(safe) == nasty);
  CHECK(escaped("&lt;") == "&amp;lt;");
  CHECK(escaped("") == "");
}

TEST_CASE("a number has the digits asked for, a real minus, and none where there is none") {
  CHECK(number(3.14159) == "3.14");
  CHECK(number(2.5, 0) == "2");  // to even, as IEEE 754 rounds
  CHECK(number(1e6, 1) == "1000000.0");
  CHECK(number(-1.5, 1) == "\u22121.5");
  CHECK(number(-0.001) == "0.00");
  CHECK(number(-0.0, 0) == "0");
  CHECK(number(-0.01) == "\u22120.01");
  for (const double x : {kNan, -kNan, kInfinity, -kInfinity}) { CHECK(number(x) == "none"); }
}

TEST_CASE("a page is whole: every tag it opens is closed, and its title is text") {
  Svg picture(200, 100, "a \"quoted\" <picture>");
  picture.begin_group(3, 4);
  picture.rect(0, 0, 1, 1, "cell", "rx=\"2\"", "tooltip of <rect>");
  picture.circle(1, 1, 1, "dot", "1 < 2");
  picture.circle(1, 1, 1, "ring");
  picture.text(0, 0, "</text><script>", "name");
  picture.path({{0, 0}, {1, 1}}, "curve", "a & b");
  picture.band({{0, 0}}, {{0, 1}}, "band");
  picture.end_group();
  picture.frame(Axis(0, 1, 0, 100), Axis(0, 1, 50, 0), "x < y", "y & z");
  const std::string page =
      begin_page("</title><script>", ".mine { color: red; }") + tile("<b>", "R&D", true) +
      section("Title", "text", key_line({{"blue", "ours"}, {".dashed", "theirs"}}), picture.str()) +
      end_page();
  CHECK(unclosed(page) == "");
  CHECK(unclosed(page.substr(0, page.size() - 10)) != "");  // the check itself can fail
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(times(page, "<script>") == 0);
  CHECK(page.find("<title>&lt;/title&gt;&lt;script&gt;</title>") != std::string::npos);
  CHECK(page.find(".mine { color: red; }</style>") != std::string::npos);
}

TEST_CASE("a page loads nothing from elsewhere and has colours for light and dark") {
  const std::string page = begin_page("t", "") + end_page();
  for (const char* word : {"http", "src=", "@import", "url(", "<link"}) {
    CAPTURE(word);
    CHECK(page.find(word) == std::string::npos);
  }
  CHECK(page.find("charset=\"utf-8\"") != std::string::npos);
  // Every colour of the light sheet has its counterpart in the dark one.
  for (const char* colour : {"--page:", "--card:", "--ink:", "--soft:", "--rule:"}) {
    CAPTURE(colour);
    CHECK(times(page, colour) == 2);
  }
}

TEST_CASE("a tile is narrow unless asked, and shows its words as they are") {
  CHECK(tile("<5>", "a&b") == "<div class=\"tile\"><b>&lt;5&gt;</b><span>a&amp;b</span></div>\n");
  CHECK(tile("5", "x", true).find("class=\"tile wide\"") != std::string::npos);
}

TEST_CASE("a key's entries are colours of the style or classes, in their order") {
  const std::string key = key_line({{"red", "bad <i>"}, {".thick", "good"}});
  const std::size_t colour = key.find("border-color:var(--red)");
  const std::size_t cls = key.find("<i class=\"thick\">");
  REQUIRE(colour != std::string::npos);
  REQUIRE(cls != std::string::npos);
  CHECK(colour < cls);
  CHECK(key.find("bad <i>") != std::string::npos);  // its text is HTML
  CHECK(key_line({}) == "<div class=\"key\"></div>\n");
}

TEST_CASE("a section holds title, text, key and body in this order") {
  const std::string html = section("T", "words", "KEY", "BODY");
  CHECK(html.find("<h2>T</h2>") < html.find("<p>words</p>"));
  CHECK(html.find("<p>words</p>") < html.find("KEY"));
  CHECK(html.find("KEY") < html.find("<div class=\"scroll\">\nBODY</div>"));
  CHECK(unclosed(html) == "");
}
