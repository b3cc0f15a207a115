#pragma once
#include <string>
#include <string_view>

namespace penstock {

/// A text of others as a terminal may show it: what would control the terminal, or turn the
/// direction of writing, is written out as \x1b or \u202e, and so are bytes that are not UTF-8.
/// Lines and tabs stay. Applied twice, it changes nothing more.
/// For people; documents in JSON are escaped by their writer.
std::string printable(std::string_view text);

/// Without the blanks and ends of lines around it.
std::string_view trimmed(std::string_view text);

/// What an errno means, with the remedy where there is one: "Too many open files; raise the limit:
/// `ulimit -n 4096`".
std::string system_text(int error);

}  // namespace penstock
