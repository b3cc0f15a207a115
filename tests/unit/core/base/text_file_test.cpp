#include "penstock/core/base/text_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

using namespace penstock;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream from(text);
  LineReader reader(from);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) { lines.push_back(line); }
  return lines;
}

}  // namespace

TEST_CASE("lines are read whole or not at all") {
  CHECK(lines_of("").empty());
  CHECK(lines_of("torn").empty());
  CHECK(lines_of("one\n\nthree\ntorn") == std::vector<std::string>{"one", "", "three"});
  for (std::size_t size = 65530; size < 65542; ++size) {  // around the end of a block
    const std::string first(size, 'x');
    CHECK(lines_of(first + "\nnext\n") == std::vector<std::string>{first, "next"});
    CHECK(lines_of(first + "\n") == std::vector<std::string>{first});
    CHECK(lines_of(first).empty());
  }
}

TEST_CASE("a line of any length takes no more memory than the longest that is read") {
  const std::string longest(LineReader::kLongest, 'x');
  CHECK(lines_of(longest + "\n") == std::vector<std::string>{longest});
  CHECK(lines_of(longest + "x\nnext\n") == std::vector<std::string>{"", "next"});
  std::istringstream from(std::string(40 * LineReader::kLongest, 'x') + "\nnext\n");
  LineReader reader(from);
  std::string line;
  REQUIRE(reader.next(line));
  CHECK(line.empty());
  CHECK(line.capacity() <= 2 * LineReader::kLongest);
  REQUIRE(reader.next(line));
  CHECK(line == "next");
}
