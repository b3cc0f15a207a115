// Any bytes are either refused with a DataError or an archive whose arrays can be read to the last
// number. They are tried as an array of their own too: the archive's checksums keep most out.
#include <zlib.h>

#include <cstdint>
#include <span>

#include "mutate.h"
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

std::vector<std::size_t> places_of(const std::string& zip, std::string_view signature) {
  std::vector<std::size_t> places;
  for (std::size_t at = zip.find(signature); at != std::string::npos;) {
    places.push_back(at);
    at = zip.find(signature, at + 1);
  }
  return places;
}

void put_number(std::string& zip, std::size_t at, std::size_t number, std::size_t width) {
  for (std::size_t i = 0; i < width && at + i < zip.size(); ++i) {
    zip[at + i] = static_cast<char>(number >> (8 * i));
  }
}

std::size_t u16(const std::string& zip, std::size_t at) {
  if (at + 1 >= zip.size()) { return 0; }
  return static_cast<std::uint8_t>(zip[at]) + 256U * static_cast<std::uint8_t>(zip[at + 1]);
}

/// What a packed entry unpacks to, as far as it does.
std::string unpacked(const std::string& packed) {
  std::string out(std::size_t{1} << 16, '\0');
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = packed.size();
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = out.size();
  inflateInit2(&stream, -MAX_WBITS);
  inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  return out.substr(0, stream.total_out);
}

/// With the places, sizes and checksums of its entries put right again.
std::string sealed(std::string zip) {
  const auto locals = places_of(zip, "PK\x03\x04");
  const auto entries = places_of(zip, "PK\x01\x02");
  const std::size_t end = zip.rfind("PK\x05\x06");
  if (end == std::string::npos || entries.empty()) { return zip; }
  put_number(zip, end + 10, entries.size(), 2);
  put_number(zip, end + 16, entries[0], 4);
  for (std::size_t i = 0; i < std::min(locals.size(), entries.size()); ++i) {
    const std::size_t data = locals[i] + 30 + u16(zip, locals[i] + 26) + u16(zip, locals[i] + 28);
    const std::size_t stop = i + 1 < locals.size() ? locals[i + 1] : entries[0];
    if (data > stop) { continue; }
    const std::string packed = zip.substr(data, stop - data);
    const std::string plain = u16(zip, entries[i] + 10) == 0 ? packed : unpacked(packed);
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(plain.data()), plain.size());
    put_number(zip, entries[i] + 16, sum, 4);
    put_number(zip, entries[i] + 20, packed.size(), 4);
    put_number(zip, entries[i] + 24, plain.size(), 4);
    put_number(zip, entries[i] + 42, locals[i], 4);
  }
  return zip;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max, unsigned seed) {
  fuzz::Random random(seed);
  std::string zip = fuzz::mutated(fuzz::text_of(data, size), max, random);
  return fuzz::put(random() % 4 == 0 ? zip : sealed(std::move(zip)), data, max);
}

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
