#include "penstock/domains/cage2/sim/npz.h"

#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/text_file.h"

// The parts of the ZIP format (PKWARE's APPNOTE.TXT) that NumPy writes: one disk, no encryption,
// entries stored or deflated, and sizes below 4 GB in the directory at the end.
namespace penstock::cage2 {
namespace {

constexpr std::size_t kEndSize = 22;
constexpr std::size_t kEntrySize = 46;
constexpr std::size_t kLocalSize = 30;
constexpr std::size_t kMaxComment = 0xFFFF;
constexpr std::uint32_t kEndSignature = 0x06054B50;
constexpr std::uint32_t kEntrySignature = 0x02014B50;
constexpr std::uint32_t kLocalSignature = 0x04034B50;
constexpr std::size_t kMaxRatio = 1032;  // deflate cannot do better
constexpr std::size_t kMaxUnpacked = 64'000'000;

/// Little-endian numbers at places that are checked.
class Bytes {
 public:
  Bytes(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::span<const std::byte> part(std::size_t at, std::size_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) { refuse("it ends too early"); }
    return bytes_.subspan(at, size);
  }
  [[nodiscard]] std::uint32_t number(std::size_t at, std::size_t size) const {
    std::uint32_t value = 0;
    for (const std::byte byte : part(at, size)) {
      value = value >> 8 | std::to_integer<std::uint32_t>(byte) << 24;
    }
    return value >> (32 - 8 * size);
  }
  [[nodiscard]] std::uint32_t u16(std::size_t at) const { return number(at, 2); }
  [[nodiscard]] std::uint32_t u32(std::size_t at) const { return number(at, 4); }

  [[noreturn]] void refuse(const std::string& why) const {
    throw DataError(name_ + ": not a readable .npz file: " + why);
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& name_;
};

/// What the directory says of a file.
struct Entry {
  std::string name;
  std::uint32_t method = 0;
  std::uint32_t checksum = 0;
  std::size_t packed_size = 0;
  std::size_t size = 0;
  std::size_t local = 0;  // where its own header begins
};

/// The end record stands last, before a comment that is nearly always empty.
std::size_t find_end(const Bytes& zip) {
  if (zip.size() < kEndSize) { zip.refuse("it ends too early"); }
  const std::size_t last = zip.size() - kEndSize;
  for (std::size_t back = 0; back <= std::min(last, kMaxComment); ++back) {
    if (zip.u32(last - back) == kEndSignature) { return last - back; }
  }
  zip.refuse("no directory at its end");
}

/// Entries may share the bytes that they unpack: what counts is all of them together. A small file
/// may unpack to much more than games are long.
void check_sizes(const std::vector<Entry>& entries, const Bytes& zip) {
  std::size_t sum = 0;
  for (const Entry& entry : entries) { sum += std::max(entry.size, entry.packed_size); }
  if (sum > std::min(kMaxRatio * zip.size(), kMaxUnpacked)) {
    zip.refuse("its entries claim too much");
  }
}

std::vector<Entry> read_directory(const Bytes& zip) {
  const std::size_t end = find_end(zip);
  const std::size_t count = zip.u16(end + 10);
  std::size_t at = zip.u32(end + 16);
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < count; ++i) {
    if (zip.u32(at) != kEntrySignature) { zip.refuse("a damaged directory"); }
    const std::size_t name_size = zip.u16(at + 28);
    const auto name = zip.part(at + kEntrySize, name_size);
    Entry entry{.method = zip.u16(at + 10),
                .checksum = zip.u32(at + 16),
                .packed_size = zip.u32(at + 20),
                .size = zip.u32(at + 24),
                .local = zip.u32(at + 42)};
    entry.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
    entries.push_back(std::move(entry));
    at += kEntrySize + name_size + zip.u16(at + 30) + zip.u16(at + 32);
  }
  check_sizes(entries, zip);
  return entries;
}

std::vector<std::byte> inflate_all(std::span<const std::byte> packed, const Entry& entry,
                                   const Bytes& zip) {
  if (entry.size > kMaxRatio * (packed.size() + 1)) { zip.refuse(entry.name + " claims too much"); }
  std::vector<std::byte> out(entry.size);
  z_stream stream{};
  // zlib's interface has no const; it does not write to its input.
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
  stream.avail_in = packed.size();
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = out.size();
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) { throw std::bad_alloc(); }
  const int result = inflate(&stream, Z_FINISH);
  const bool whole = result == Z_STREAM_END && stream.total_out == entry.size;
  inflateEnd(&stream);
  if (!whole) { zip.refuse(entry.name + " does not unpack"); }
  return out;
}

std::vector<std::byte> unpack(const Entry& entry, const Bytes& zip) {
  if (zip.u32(entry.local) != kLocalSignature) {
    zip.refuse(entry.name + " is not where it should");
  }
  const std::size_t data =
      entry.local + kLocalSize + zip.u16(entry.local + 26) + zip.u16(entry.local + 28);
  const auto packed = zip.part(data, entry.packed_size);
  std::vector<std::byte> out;
  if (entry.method == 0) {
    out.assign(packed.begin(), packed.end());
  } else if (entry.method == Z_DEFLATED) {
    out = inflate_all(packed, entry, zip);
  } else {
    zip.refuse(entry.name + " is packed by a method that NumPy does not use");
  }
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(out.data()), out.size());
  if (sum != entry.checksum) { zip.refuse(entry.name + " has another checksum"); }
  return out;
}

/// Builds an archive: the files, then their directory.
class ZipWriter {
 public:
  void add(const std::string& name, std::span<const std::byte> file) {
    const std::vector<std::byte> packed = deflate_all(file);
    const std::size_t local = bytes_.size();
    Fields common;
    common.u16(kVersion).u16(0).u16(Z_DEFLATED).u16(0).u16(kDate);
    common.u32(crc32(0, reinterpret_cast<const Bytef*>(file.data()), file.size()));
    common.u32(packed.size()).u32(file.size()).u16(name.size()).u16(0);
    bytes_ += Fields().u32(kLocalSignature).text + common.text + name;
    bytes_.append(reinterpret_cast<const char*>(packed.data()), packed.size());
    Fields rest;  // comment, disk, attributes, place
    rest.u16(0).u16(0).u16(0).u32(0).u32(local);
    directory_ += Fields().u32(kEntrySignature).u16(kVersion).text + common.text + rest.text + name;
    ++count_;
  }

  std::string take() {
    Fields end;
    end.u32(kEndSignature).u16(0).u16(0).u16(count_).u16(count_);
    end.u32(directory_.size()).u32(bytes_.size()).u16(0);
    return std::move(bytes_) + directory_ + end.text;
  }

 private:
  static constexpr std::uint32_t kVersion = 20;  // that can read it: 2.0
  static constexpr std::uint32_t kDate = 33;     // 1 January 1980: the same bytes at any time

  struct Fields {
    std::string text;
    Fields& put(std::size_t value, std::size_t size) {
      for (std::size_t i = 0; i < size; ++i) { text += static_cast<char>(value >> 8 * i & 255U); }
      return *this;
    }
    Fields& u16(std::size_t value) { return put(value, 2); }
    Fields& u32(std::size_t value) { return put(value, 4); }
  };

  static std::vector<std::byte> deflate_all(std::span<const std::byte> file) {
    z_stream stream{};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
    std::vector<std::byte> out(deflateBound(&stream, file.size()));
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(file.data()));
    stream.avail_in = file.size();
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = out.size();
    deflate(&stream, Z_FINISH);  // cannot fail: there is room for the worst
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
  }

  std::string bytes_;
  std::string directory_;
  std::size_t count_ = 0;
};

}  // namespace

void save_npz(const std::string& path, const std::vector<NpyArray>& arrays) {
  ZipWriter zip;
  std::size_t sum = 0;
  for (const NpyArray& array : arrays) {
    const std::vector<std::byte> file = format_npy(array);
    sum += file.size();
    if (sum > kMaxUnpacked) {
      throw UsageError(path + ": more than " + std::to_string(kMaxUnpacked) +
                       " bytes; record fewer episodes in a file");
    }
    zip.add(array.name + ".npy", file);
  }
  std::ofstream out(path, std::ios::binary);
  out << zip.take();
  out.close();
  if (!out) { throw IoError(path + ": cannot be written", Exit::cannot_create); }
}

Npz Npz::parse(std::span<const std::byte> bytes, const std::string& name) {
  constexpr std::string_view kSuffix = ".npy";
  const Bytes zip(bytes, name);
  Npz npz;
  npz.name_ = name;
  for (const Entry& entry : read_directory(zip)) {
    if (!std::string_view(entry.name).ends_with(kSuffix)) { continue; }
    NpyArray array = parse_npy(unpack(entry, zip), name + ": " + entry.name);
    array.name = entry.name.substr(0, entry.name.size() - kSuffix.size());
    npz.arrays_.push_back(std::move(array));
  }
  return npz;
}

Npz Npz::read(const std::string& path) {
  const std::string text = read_text(path);
  return parse(std::as_bytes(std::span(text)), path);
}

const NpyArray& Npz::at(std::string_view array) const {
  const auto found = std::find_if(arrays_.begin(), arrays_.end(),
                                  [&](const NpyArray& each) { return each.name == array; });
  if (found == arrays_.end()) {
    throw DataError(name_ + ": no array '" + std::string(array) + "'");
  }
  return *found;
}

}  // namespace penstock::cage2
