#pragma once
#include <string_view>

namespace penstock {

/// A line on stderr for whoever watches: "penstock: " and a text, which may hold that of a file, as
/// printable() shows it. Thread-safe.
void print_note(std::string_view text);

}  // namespace penstock
