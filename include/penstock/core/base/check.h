#pragma once
#include <sstream>

/// Assertions on our own logic: always on, print both operands, never reachable from user input.
///     PENSTOCK_CHECK(rows, ==, num_envs);
/// Each operand is evaluated once and must print to a stream.
#define PENSTOCK_CHECK(left, op, right)                                                            \
  do {                                                                                             \
    const auto& penstock_left = (left);                                                            \
    const auto& penstock_right = (right);                                                          \
    if (!(penstock_left op penstock_right)) {                                                      \
      std::ostringstream penstock_text;                                                            \
      penstock_text << #left " " #op " " #right ": " << penstock_left << " vs " << penstock_right; \
      ::penstock::detail::check_failed(__FILE__, __LINE__, penstock_text.str().c_str());           \
    }                                                                                              \
  } while (false)

namespace penstock::detail {

/// Throws std::logic_error with the place and the operands.
[[noreturn]] void check_failed(const char* file, int line, const char* text);

}  // namespace penstock::detail
