#include "penstock/core/base/note.h"

#include <fmt/format.h>

#include <cstdio>

#include "penstock/core/base/text.h"

namespace penstock {

void print_note(std::string_view text) { fmt::print(stderr, "penstock: {}\n", printable(text)); }

}  // namespace penstock
