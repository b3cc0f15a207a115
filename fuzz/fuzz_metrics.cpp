// Whatever metrics.jsonl holds, a rewind leaves whole lines of it, each a JSON object of a step
// that is not forgotten, and a second one changes nothing.
#include <cstdlib>
#include <sstream>

#include "mutate.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/store/run_dir.h"
#include "scratch_file.h"

namespace {

using namespace penstock;

constexpr std::int64_t kStep = 1000;

void require(bool holds) {
  if (!holds) { std::abort(); }
}

void check(const std::string& kept) {
  std::istringstream lines(kept);
  for (std::string line; std::getline(lines, line);) {
    const Json object = parse_json(line);  // throws, and so crashes
    require(object.is_object() && object.at("step") <= kStep);
  }
  require(kept.empty() || kept.back() == '\n');
}

}  // namespace

FUZZ_TEXT_MUTATOR

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string folder = fuzz::scratch_folder() + "/run";
  std::filesystem::remove_all(folder);  // with the log of TensorBoard, which grows
  std::filesystem::create_directory(folder);
  fuzz::write_file(folder + "/metrics.jsonl", data, size);
  RunDir run(folder, RunDir::Open::resume);
  run.rewind(kStep);
  const std::string kept = run.read("metrics.jsonl");
  check(kept);
  run.rewind(kStep);
  require(run.read("metrics.jsonl") == kept);
  return 0;
}
