#include "domains/cage2/cli/episode_page.h"

#include <fmt/format.h>

#include "penstock/tools/page/page.h"

namespace penstock::cage2 {
namespace {

// Made of the files of src/domains/cage2/cli/page when the build is configured.
constexpr const char* kEpisodeStyle =
#include "domains/cage2/cli/page/episode.css.inc"
    ;
constexpr const char* kEpisodeBody =
#include "domains/cage2/cli/page/episode.html.inc"
    ;
constexpr const char* kEpisodeScript =
#include "domains/cage2/cli/page/episode.js.inc"
    ;

/// JSON that no browser takes for the end of its element: only strings can hold such a sign.
std::string without_tags(const std::string& json) {
  std::string text;
  for (const char sign : json) {
    if (sign == '<') {
      text += "\\u003c";
    } else {
      text += sign;
    }
  }
  return text;
}

}  // namespace

std::string episode_page(const std::string& title, const std::string& log) {
  return page::begin_page(title, kEpisodeStyle) +
         fmt::format(
             "<h1>{}</h1>\n{}<script id=\"game\" type=\"application/json\">{}</script>\n"
             "<script>\n{}</script>\n",
             page::escaped(title), kEpisodeBody, without_tags(log), kEpisodeScript) +
         page::end_page();
}

}  // namespace penstock::cage2
