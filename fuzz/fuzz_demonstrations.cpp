// A file of lessons is either refused with a DataError or read, saved and read back the same, and
// each plan serves every request once.
#include <cstdlib>

#include "mutate.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/neural/train/demonstrations.h"
#include "scratch_file.h"

namespace {

using namespace penstock::booking;

void require(bool holds) {
  if (!holds) { std::abort(); }
}

void check(const Demonstration& lesson) {
  std::size_t stops = 0;
  for (const auto& route : lesson.plan.routes) { stops += route.size(); }
  const std::int64_t each = lesson.kind.mode == Mode::ride ? 2 : 1;
  require(static_cast<std::int64_t>(stops) == each * lesson.kind.requests);
}

bool same(const Demonstration& a, const Demonstration& b) {
  return a.kind == b.kind && a.seed == b.seed && a.plan.routes == b.plan.routes;
}

}  // namespace

FUZZ_TEXT_MUTATOR

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string path = fuzz::scratch_folder() + "/lessons.txt";
  fuzz::write_file(path, data, size);
  std::vector<Demonstration> lessons;
  try {
    lessons = load_demonstrations(path);
  } catch (const penstock::DataError&) {
    return 0;  // any other exception is a crash
  }
  for (const Demonstration& lesson : lessons) { check(lesson); }
  save_demonstrations(path, lessons);
  const std::vector<Demonstration> again = load_demonstrations(path);
  require(std::equal(lessons.begin(), lessons.end(), again.begin(), again.end(), same));
  return 0;
}
