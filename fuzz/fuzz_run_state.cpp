// Any text in the place of a checkpoint's state.json is either refused with a DataError or counters
// and a run's state, which are printed and read back the same.
#include <cstdlib>

#include "mutate.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/train/run_state.h"

namespace {

using namespace penstock;

constexpr std::int64_t kMost = std::int64_t{1} << 53;

std::string printed(const Checkpoint& checkpoint) {
  const detail::Counters counters = detail::counters_of(checkpoint);
  for (const auto& [name, value] : counters) {
    if (value < 0 || value > kMost) { continue; }
    if (detail::counter(counters, name) != value) { std::abort(); }
  }
  return detail::state_text(to_text(Json(counters)), detail::read_run_state(checkpoint));
}

void check(const detail::RunState& state) {
  for (const std::int64_t count : {state.episodes, state.discarded, state.next_eval}) {
    if (count < 0 || count > kMost) { std::abort(); }
  }
  if (!(state.seconds >= 0)) { std::abort(); }
  (void)state.mean_reward();
  (void)state.mean_length();
}

}  // namespace

FUZZ_TEXT_MUTATOR

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Checkpoint checkpoint{.step = 1000, .tensors = {}, .state = fuzz::text_of(data, size)};
  std::string first;
  try {
    first = printed(checkpoint);
    check(detail::read_run_state(checkpoint));
  } catch (const DataError&) {
    return 0;  // any other exception is a crash
  }
  checkpoint.state = first;
  if (printed(checkpoint) != first) { std::abort(); }
  return 0;
}
