#pragma once
// A change of the header, whose length stands before it, or of the numbers behind it.
#include "mutate.h"

namespace fuzz {

inline constexpr std::size_t kPrefix = 8;  // the header's length, little-endian

inline std::string with_length(const std::string& header, const std::string& numbers) {
  std::string text(kPrefix, '\0');
  for (std::size_t i = 0; i < kPrefix; ++i) {
    text[i] = static_cast<char>(header.size() >> (8 * i));
  }
  return text + header + numbers;
}

/// `change` makes another header of the old one.
template <class Change>
std::string mutated_safetensors(const std::string& text, std::size_t max, Random& random,
                                const Change& change) {
  std::uint64_t length = 0;
  if (text.size() >= kPrefix) { std::memcpy(&length, text.data(), kPrefix); }
  if (text.size() < kPrefix || length > text.size() - kPrefix || max < 64 || random() % 16 == 0) {
    return mutated(text, max, random);
  }
  std::string header = text.substr(kPrefix, length);
  std::string numbers = text.substr(kPrefix + length);
  if (random() % 8 == 0) {
    numbers = changed(numbers, max - std::min(max, kPrefix + header.size()));
  } else {
    header = change(header, max - kPrefix);
  }
  return with_length(header, numbers);
}

}  // namespace fuzz
