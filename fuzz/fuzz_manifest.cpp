// Any text is either refused with a DataError or a manifest that is printed and read back the same,
// of files that a checkpoint may have.
#include <cstdlib>

#include "core/store/manifest.h"
#include "mutate.h"
#include "penstock/core/store/safetensors.h"

namespace {

using penstock::detail::Manifest;

const std::string kSum = "\"xxh3\"";

/// With the checksum that the reader asks for before all else.
std::string sealed(const std::string& body) {
  return body + kSum + ": \"" + penstock::xxh3_hex(penstock::detail::bytes_of(body)) + "\"\n}\n";
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max, unsigned seed) {
  fuzz::Random random(seed);
  const std::string text = fuzz::text_of(data, size);
  const std::size_t end = text.rfind(kSum);
  if (end == std::string::npos || max < 64 || random() % 16 == 0) {
    return fuzz::put(fuzz::mutated(text, max, random), data, max);
  }
  return fuzz::put(sealed(fuzz::mutated(text.substr(0, end), max - 32, random)), data, max);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string first;
  try {
    const Manifest manifest = Manifest::parse(fuzz::text_of(data, size), "fuzz");
    for (const auto& [name, file] : manifest.files) {
      if (name.find('/') != std::string::npos) { std::abort(); }
    }
    first = manifest.text();
  } catch (const penstock::DataError&) {
    return 0;  // any other exception is a crash
  }
  if (Manifest::parse(first, "printed").text() != first) { std::abort(); }
  return 0;
}
