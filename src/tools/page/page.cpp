#include "penstock/tools/page/page.h"

#include <fmt/format.h>

#include <cmath>

namespace penstock::page {
namespace {

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --page: #fafaf7; --card: #ffffff; --ink: #1c2330; --soft: #5d6675; --rule: #e4e6ea; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14181f; --card: #1c222b; --ink: #e7eaf0; --soft: #9aa5b4; --rule: #313a46; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 932px; margin: 0 auto; padding: 28px 16px 60px; }
h1 { font-size: 26px; margin: 0 0 2px; } h2 { font-size: 18px; margin: 0 0 4px; }
p { margin: 0 0 10px; color: var(--soft); max-width: 96ch; }
section, .tile { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; }
section { padding: 18px 18px 10px; margin-top: 18px; }
.scroll { overflow-x: auto; } .pair { display: flex; flex-wrap: wrap; gap: 16px; }
svg { display: block; max-width: none; font-family: inherit; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(160px, 1fr)); gap: 12px; margin-top: 18px; }
.tile { padding: 12px 14px; } .tile b { display: block; white-space: nowrap; font-size: 18px; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: 13px; } .tile.wide { grid-column: 1 / -1; } .tile.wide b { font-size: 18px; white-space: normal; }
.key { display: flex; flex-wrap: wrap; gap: 6px 18px; color: var(--soft); font-size: 13px; margin: 0 0 8px; }
.key i { display: inline-block; width: 18px; height: 0; border-top: 3px solid; margin-right: 6px; vertical-align: middle; }
table { border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { text-align: right; padding: 4px 7px; border-bottom: 1px solid var(--rule); }
th { color: var(--soft); font-weight: 600; }
.grid { stroke: var(--rule); } .axis { stroke: var(--soft); stroke-width: 1; }
text { fill: var(--ink); font-size: 12px; } .tick { fill: var(--soft); font-size: 11.5px; } .name { fill: var(--soft); }
.mid { text-anchor: middle; } .end { text-anchor: end; } .cell { font-size: 12px; font-variant-numeric: tabular-nums; }
.dot { fill: var(--c); } .ring { fill: var(--card); stroke: var(--c); stroke-width: 2; }
.whisker { stroke: var(--c); stroke-width: 2; }
.curve { fill: none; stroke: var(--c); stroke-width: 2.4; stroke-linejoin: round; }
.band { fill: var(--c); fill-opacity: .16; }
)";

}  // namespace

std::string begin_page(const std::string& title, const std::string& style) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n<main>\n",
      escaped(title), kStyle, style);
}

std::string end_page() { return "</main>\n</body>\n</html>\n"; }

std::string number(double value, int digits) {
  if (!std::isfinite(value)) { return "none"; }
  return with_minus(fmt::format("{:.{}f}", value, digits));
}

std::string tile(const std::string& value, const std::string& name, bool wide) {
  return fmt::format("<div class=\"tile{}\"><b>{}</b><span>{}</span></div>\n", wide ? " wide" : "",
                     escaped(value), escaped(name));
}

std::string section(const std::string& title, const std::string& text, const std::string& key,
                    const std::string& body) {
  return fmt::format(
      "<section>\n<h2>{}</h2>\n<p>{}</p>\n{}<div class=\"scroll\">\n{}</div>\n</section>\n", title,
      text, key, body);
}

std::string key_line(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string html = "<div class=\"key\">";
  for (const auto& [kind, text] : entries) {
    html +=
        kind.starts_with('.')
            ? fmt::format("<span><i class=\"{}\"></i>{}</span>", kind.substr(1), text)
            : fmt::format("<span><i style=\"border-color:var(--{})\"></i>{}</span>", kind, text);
  }
  return html + "</div>\n";
}

}  // namespace penstock::page
