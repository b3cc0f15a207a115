// Any bytes are either refused with a DataError or an archive whose arrays can be read to the last
// number. They are tried as an array of their own too: the archive's checksums keep most out.
#include <cstdint>
#include <span>

#include "penstock/core/base/errors.h"
#include "penstock/domains/cage2/sim/npz.h"

namespace {

using penstock::cage2::NpyArray;
using penstock::cage2::Npz;

std::int64_t sum(const NpyArray& array) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < array.size(); ++i) { total += static_cast<std::uint64_t>(array[i]); }
  return static_cast<std::int64_t>(total);
}

template <class Read>
void try_to(Read read) {
  try {
    read();
  } catch (const penstock::DataError&) {
    return;  // any other exception is a crash
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  volatile std::int64_t kept = 0;
  try_to([&] {
    const Npz npz = Npz::parse(bytes, "fuzz");
    for (const NpyArray& array : npz.arrays()) { kept = sum(array); }
  });
  try_to([&] { kept = sum(penstock::cage2::parse_npy(bytes, "fuzz")); });
  return 0;
}
