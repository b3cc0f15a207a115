#include "penstock/envs/classic/multi.h"

#include <algorithm>

namespace penstock {

EnvSpec MultiEnv::spec() const {
  return {Layout({{"first", {kValues[0]}}, {"second", {kValues[1]}}, {"third", {kValues[2]}}}),
          MultiDiscrete{{kValues.begin(), kValues.end()}, true}};
}

void MultiEnv::reset(std::uint64_t seed, Row row) {
  random_ = Random(seed);
  steps_ = 0;
  show_others(row);
}

Outcome MultiEnv::step(std::span<const std::int64_t> action, Row row) {
  const bool allowed = legal(action);
  int matches = 0;
  for (std::size_t d = 0; d < digits_.size(); ++d) { matches += action[d] == digits_[d]; }
  ++steps_;
  show_others(row);
  if (!allowed) { return {.reward = -1, .terminated = true, .success = Success::no}; }
  return {.reward = static_cast<float>(matches) / digits_.size(),
          .terminated = steps_ >= length_,
          .success = Success::yes};
}

bool MultiEnv::possible() const {
  return steps_ >= 0 && steps_ < length_ &&
         std::equal(digits_.begin(), digits_.end(), kValues.begin(),
                    [](std::int64_t digit, std::int64_t n) { return digit >= 0 && digit < n; });
}

bool MultiEnv::legal(std::span<const std::int64_t> action) const {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < kValues.size(); ++d) {
    if (action[d] < 0 || action[d] >= kValues[d]) { return false; }
    if ((legal_ >> (offset + action[d]) & 1) == 0) { return false; }
    offset += kValues[d];
  }
  return true;
}

void MultiEnv::show_others(Row row) {
  std::size_t i = 0;
  legal_ = 0;
  for (std::size_t d = 0; d < kValues.size(); ++d) {
    digits_[d] = random_.below(kValues[d]);
    for (std::int64_t value = 0; value < kValues[d]; ++value, ++i) {
      const bool shown = value == digits_[d];
      row.obs[i] = shown ? 1 : 0;
      row.legal[i] = shown || random_.below(2) == 1;
      legal_ |= std::uint32_t{row.legal[i]} << i;
    }
  }
}

}  // namespace penstock
