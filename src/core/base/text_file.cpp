#include "penstock/core/base/text_file.h"

#include <fmt/format.h>

#include <array>
#include <fstream>

#include "penstock/core/base/errors.h"

namespace penstock {

std::string read_text(std::istream& from, const std::string& name, std::size_t max_bytes) {
  std::string text;
  std::array<char, 65536> block{};
  while (from.read(block.data(), block.size()), from.gcount() > 0) {
    text.append(block.data(), from.gcount());
    if (text.size() > max_bytes) {
      throw DataError(
          fmt::format("{}: more than {} bytes; is it the right file?", name, max_bytes));
    }
  }
  if (from.bad()) { throw IoError(fmt::format("{}: reading failed", name)); }
  return text;
}

std::string read_text(const std::string& path, std::size_t max_bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) { throw IoError(fmt::format("{}: cannot be read; is the path right?", path)); }
  return read_text(file, path, max_bytes);
}

}  // namespace penstock
