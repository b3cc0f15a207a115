#pragma once
// What the targets' own mutators have in common. libFuzzer changes single bytes and words; these
// keep what a reader checks first (lengths, checksums) right, so that the search reaches what lies
// behind, and make towers of one bracket or one part of a key.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace fuzz {

using Random = std::minstd_rand;

/// libFuzzer's own changes: bytes, words of the dictionary, parts of other inputs.
inline std::string changed(std::string text, std::size_t max) {
  const std::size_t size = std::min(text.size(), max);
  text.resize(std::min(max, 2 * size + 4096));
  if (text.empty()) { return text; }
  text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, text.size()));
  return text;
}

/// A short piece of the text many times over: "[[[[", "a.a.a.", "{"a":{"a":".
inline std::string repeated(std::string text, std::size_t max, Random& random) {
  if (text.empty()) { return text; }
  const std::size_t at = random() % text.size();
  const std::string piece = text.substr(at, 1 + random() % 8);
  const std::size_t times = std::size_t{1} << random() % 12;
  std::string tower;
  for (std::size_t i = 0; i < times && text.size() + tower.size() < max; ++i) { tower += piece; }
  return text.insert(at, tower).substr(0, max);
}

inline std::string mutated(const std::string& text, std::size_t max, Random& random) {
  return random() % 16 == 0 ? repeated(text, max, random) : changed(text, max);
}

/// As LLVMFuzzerCustomMutator wants it: back into the memory lent.
inline std::size_t put(const std::string& text, std::uint8_t* data, std::size_t max) {
  const std::size_t size = std::min(text.size(), max);
  std::memcpy(data, text.data(), size);
  return size;
}

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace fuzz

/// For texts without lengths and checksums.
#define FUZZ_TEXT_MUTATOR                                                               \
  extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,  \
                                                 std::size_t max, unsigned seed) {      \
    fuzz::Random random(seed);                                                          \
    return fuzz::put(fuzz::mutated(fuzz::text_of(data, size), max, random), data, max); \
  }
