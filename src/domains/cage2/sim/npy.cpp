#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

#include "penstock/core/base/errors.h"
#include "penstock/domains/cage2/sim/npz.h"

namespace penstock::cage2 {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are used as they stand");

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw DataError(name + ": " + why);
}

/// The text after a key of the header, a Python dictionary that NumPy writes in one fixed way.
std::string_view value_of(std::string_view header, std::string_view key, const std::string& name) {
  const std::size_t at = header.find(key);
  if (at == std::string_view::npos) { refuse(name, "a header without type, order and shape"); }
  return header.substr(at + key.size());
}

/// "|u1", "<i2" and so on.
void parse_type(std::string_view text, NpyArray& array) {
  const bool good = text.size() >= 5 && text[0] == '\'' && (text[1] == '<' || text[1] == '|') &&
                    (text[2] == 'u' || text[2] == 'i') && text[4] == '\'' &&
                    std::string_view("1248").find(text[3]) != std::string_view::npos;
  if (!good) { refuse(array.name, "not an array of little-endian whole numbers"); }
  array.is_signed = text[2] == 'i';
  array.item_size = text[3] - '0';
}

/// "(20, 30, 7)", "(5,)" or "()".
void parse_shape(std::string_view text, NpyArray& array) {
  const std::size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == std::string_view::npos) {
    refuse(array.name, "the shape is not a tuple");
  }
  text = text.substr(1, end - 1);
  while (!text.empty()) {
    std::size_t length = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (error != std::errc{}) { refuse(array.name, "a shape that is not whole numbers"); }
    array.shape.push_back(length);
    text.remove_prefix(rest - text.data());
    text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
  }
}

/// Where the numbers begin, and the header before them.
std::size_t parse_preamble(std::span<const std::byte> bytes, const std::string& name,
                           std::string_view& header) {
  const auto byte = [&](std::size_t i) { return std::to_integer<std::uint32_t>(bytes[i]); };
  if (bytes.size() < 12 || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0) {
    refuse(name, "not a .npy file");
  }
  const bool first_version = byte(6) == 1;
  const std::size_t start = first_version ? 10 : 12;
  std::size_t length = byte(8) | byte(9) << 8;
  if (!first_version) { length |= static_cast<std::size_t>(byte(10) | byte(11) << 8) << 16; }
  if (length > bytes.size() - start) { refuse(name, "its header ends too early"); }
  header = {reinterpret_cast<const char*>(bytes.data()) + start, length};
  return start + length;
}

template <class Number>
std::int64_t load(const std::byte* from) {
  Number number = 0;
  std::memcpy(&number, from, sizeof(number));
  return static_cast<std::int64_t>(number);
}

}  // namespace

std::int64_t NpyArray::operator[](std::size_t i) const {
  const std::byte* from = items.data() + i * item_size;
  switch (item_size) {
    case 1:
      return is_signed ? load<std::int8_t>(from) : load<std::uint8_t>(from);
    case 2:
      return is_signed ? load<std::int16_t>(from) : load<std::uint16_t>(from);
    case 4:
      return is_signed ? load<std::int32_t>(from) : load<std::uint32_t>(from);
    default:
      return load<std::int64_t>(from);
  }
}

std::vector<std::byte> format_npy(const NpyArray& array) {
  constexpr std::size_t kAligned = 64;
  constexpr std::size_t kStart = 10;  // of the header
  std::string shape;
  for (const std::size_t length : array.shape) { shape += std::to_string(length) + ", "; }
  if (array.shape.size() > 1) { shape.resize(shape.size() - 2); }
  std::string header = "{'descr': '" + std::string(array.item_size == 1 ? "|" : "<") +
                       (array.is_signed ? 'i' : 'u') + std::to_string(array.item_size) +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.append(kAligned - (kStart + header.size() + 1) % kAligned, ' ');
  header += '\n';
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size() & 255U);
  text += static_cast<char>(header.size() >> 8);
  text += header;
  const auto bytes = std::as_bytes(std::span(text));
  std::vector<std::byte> out(bytes.begin(), bytes.end());
  out.insert(out.end(), array.items.begin(), array.items.end());
  return out;
}

NpyArray parse_npy(std::span<const std::byte> bytes, const std::string& name) {
  NpyArray array;
  array.name = name;
  std::string_view header;
  const std::size_t start = parse_preamble(bytes, name, header);
  parse_type(value_of(header, "'descr': ", name), array);
  parse_shape(value_of(header, "'shape': ", name), array);
  if (!value_of(header, "'fortran_order': ", name).starts_with("False")) {
    refuse(name, "not in C order");
  }
  const std::span<const std::byte> items = bytes.subspan(start);
  std::size_t size = array.item_size;
  for (const std::size_t length : array.shape) {
    if (length != 0 && size > std::numeric_limits<std::size_t>::max() / length) {
      refuse(name, "a shape too large");
    }
    size *= length;
  }
  if (size != items.size()) { refuse(name, "its shape and its length differ"); }
  array.items.assign(items.begin(), items.end());
  return array;
}

}  // namespace penstock::cage2
