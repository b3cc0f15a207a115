#include "core/train/hmac.h"

#include <c10/util/hash.h>

#include <charconv>

namespace penstock::detail {
namespace {

constexpr std::size_t kBlock = 64;

std::string hex(const std::string& text) { return c10::sha1(text).str(); }

std::string digest(const std::string& text) {
  const std::string digits = hex(text);
  std::string out(digits.size() / 2, '\0');
  for (std::size_t i = 0; i < out.size(); ++i) {
    unsigned value = 0;
    std::from_chars(digits.data() + 2 * i, digits.data() + 2 * i + 2, value, 16);
    out[i] = static_cast<char>(value);
  }
  return out;
}

std::string padded(const std::string& key, char pad) {
  std::string block = key.size() > kBlock ? digest(key) : key;
  block.resize(kBlock, '\0');
  for (char& c : block) { c = static_cast<char>(c ^ pad); }
  return block;
}

}  // namespace

std::string hmac_sha1(const std::string& key, const std::string& text) {
  return hex(padded(key, 0x5c) + digest(padded(key, 0x36) + text));
}

}  // namespace penstock::detail
