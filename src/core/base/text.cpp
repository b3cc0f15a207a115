#include "penstock/core/base/text.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace penstock {
namespace {

/// One character of a text, or one byte that is none.
struct Character {
  std::uint32_t code = 0;
  std::size_t size = 1;  // bytes
  bool valid = false;
};

/// Of UTF-8, without forms that are longer than need be and without surrogates.
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) { return {lead, 1, true}; }
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) { return {lead}; }
  std::uint32_t code = lead & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) { return {lead}; }
    code = code << 6U | (byte(i) & 0x3fU);
  }
  const bool longer = code < (size == 4 ? 0x10000U : size == 3 ? 0x800U : 0x80U);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (longer || surrogate || code > 0x10ffff) { return {lead}; }
  return {code, size, true};
}

/// Control characters of both kinds, and those that turn the direction of writing.
bool controls(std::uint32_t code) {
  if (code == '\n' || code == '\t') { return false; }
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character next = first_of(text);
    if (!next.valid || (next.size == 1 && controls(next.code))) {
      out += fmt::format("\\x{:02x}", next.code);
    } else if (controls(next.code)) {
      out += fmt::format("\\u{:04x}", next.code);
    } else {
      out += text.substr(0, next.size);
    }
    text.remove_prefix(next.size);
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) { return {}; }
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string system_text(int error) {
  std::string text = std::generic_category().message(error);
  if (error == EMFILE) { return text + "; raise the limit: `ulimit -n 4096`"; }
  if (error == ENFILE) { return text + "; end other programs, or raise fs.file-max"; }
  return text;
}

}  // namespace penstock
