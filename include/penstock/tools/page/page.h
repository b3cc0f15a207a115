#pragma once
#include <string>
#include <utility>
#include <vector>

#include "penstock/tools/page/svg.h"

namespace penstock::page {

/// Everything before the contents of a page that loads nothing from elsewhere and serves light and
/// dark. `style`: rules of its own, after those that all pages share.
/// The title is escaped; the style is not.
std::string begin_page(const std::string& title, const std::string& style);
/// Closes what begin_page() opened.
std::string end_page();

/// A number for people: a real minus sign; "none" for what is not finite.
std::string number(double value, int digits = 2);

/// A large value with its name, for a grid of class "tiles".
std::string tile(const std::string& value, const std::string& name, bool wide = false);
/// A card; text, key and body are HTML.
std::string section(const std::string& title, const std::string& text, const std::string& key,
                    const std::string& body);
/// What colours and signs mean: (a colour of the style, without its dashes, or a class of it, with
/// its dot; HTML).
std::string key_line(const std::vector<std::pair<std::string, std::string>>& entries);

}  // namespace penstock::page
