#pragma once
#include <cstddef>
#include <iosfwd>
#include <string>

namespace penstock {

/// A whole file of at most so many bytes. Throws IoError when it cannot be read, DataError when it
/// is larger; no more than that is read of it. Thread-safe.
std::string read_text(const std::string& path, std::size_t max_bytes = 256'000'000);
/// The same of a stream, which messages call `name`.
std::string read_text(std::istream& from, const std::string& name, std::size_t max_bytes);

}  // namespace penstock
