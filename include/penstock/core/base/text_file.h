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

/// The lines of a stream that may be damaged, or of a stranger: takes the memory of one of them.
class LineReader {
 public:
  static constexpr std::size_t kLongest = 1'000'000;  // of what programs write a line of, by far

  explicit LineReader(std::istream& from) : from_(from) {}
  /// The next line, without its end; empty in place of one that is longer than kLongest. False
  /// after the last one, and for one without an end, which a kill has torn.
  bool next(std::string& line);

 private:
  bool fill();

  std::istream& from_;
  std::string block_;
  std::size_t at_ = 0;
};

}  // namespace penstock
