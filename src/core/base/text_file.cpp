#include "penstock/core/base/text_file.h"

#include <fmt/format.h>

#include <algorithm>
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

bool LineReader::fill() {
  constexpr std::size_t kBlock = 65536;
  block_.resize(kBlock);
  from_.read(block_.data(), kBlock);
  block_.resize(from_.gcount());
  at_ = 0;
  return !block_.empty();
}

bool LineReader::next(std::string& line) {
  line.clear();
  bool whole = true;
  while (at_ < block_.size() || fill()) {
    const std::size_t end = std::min(block_.find('\n', at_), block_.size());
    whole = whole && line.size() + (end - at_) <= kLongest;
    if (whole) { line.append(block_, at_, end - at_); }
    at_ = end + 1;
    if (end == block_.size()) { continue; }
    if (!whole) { line.clear(); }
    return true;
  }
  return false;
}

}  // namespace penstock
