// Any file is a journal: its whole lines are kept, a torn one is dropped, and what is appended is
// there when it is opened again. A line is read as a result of a search or refused with an error of
// JSON.
#include <algorithm>
#include <cstdlib>

#include "domains/cage2/search/workflow_json.h"
#include "mutate.h"
#include "penstock/core/base/json.h"
#include "penstock/core/store/journal.h"
#include "scratch_file.h"

namespace {

using namespace penstock;

void require(bool holds) {
  if (!holds) { std::abort(); }
}

/// As a search does, up to the first line that is damaged.
void read_results(const std::vector<std::string>& lines) {
  try {
    for (const std::string& line : lines) { cage2::detail::result_of(parse_ordered_json(line)); }
  } catch (const Json::exception&) {
    return;  // any other exception is a crash
  }
}

std::vector<std::string> reopened(const std::string& path, const std::string& header) {
  const Journal journal(path, "another header");
  require(journal.header() == header);
  return journal.lines();
}

}  // namespace

FUZZ_TEXT_MUTATOR

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string path = fuzz::scratch_folder() + "/journal.jsonl";
  fuzz::write_file(path, data, size);
  std::string header;
  std::vector<std::string> lines;
  {
    Journal journal(path, "a header");
    header = journal.header();
    lines = journal.lines();
    journal.append("the last line");
  }
  const auto ends = std::count(data, data + size, '\n');
  require(std::ssize(lines) == std::max<std::ptrdiff_t>(ends - 1, 0));
  if (ends == 0) { require(header == "a header"); }
  read_results(lines);
  lines.emplace_back("the last line");
  require(reopened(path, header) == lines);
  return 0;
}
