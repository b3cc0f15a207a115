#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/act/heads.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/core/fused/dense.h"
#include "penstock/core/fused/sample.h"

namespace penstock::detail {
namespace {

using Columns = CategoricalHead::Columns;

/// One set per thread: heads themselves hold no state.
Columns& columns_of_size(std::size_t num_actions) {
  thread_local Columns columns;
  const std::size_t size = num_actions * fused::kDrawRows;
  if (columns.logits.size() < size) {
    columns.logits.resize(size);
    columns.legal.resize(size);
  }
  return columns;
}

[[noreturn]] void refuse(std::size_t env, std::span<const bool> legal) {
  const bool any = legal.empty() || std::ranges::find(legal, true) != legal.end();
  throw DataError("env " + std::to_string(env) +
                  (any ? ": the policy's output is not finite"
                       : ": no action is legal; the env must allow at least one in every row"));
}

}  // namespace

CategoricalHead::CategoricalHead(const ActionSpec& spec)
    : spec_(spec), choices_(spec.choices()), num_actions_(spec.num_actions()) {}

void CategoricalHead::sample(const ActionBlock& block, const ActionNoise& noise) const {
  const std::size_t num_rows = block.params.size() / num_actions_;
  for (std::size_t first = 0; first < num_rows; first += fused::kDrawRows) {
    sample_chunk(block, first, std::min(fused::kDrawRows, num_rows - first), noise);
  }
}

/// Params and masks of a chunk, by columns.
void CategoricalHead::fill(Columns& columns, const ActionBlock& block, std::size_t first,
                           std::size_t rows) const {
  fused::transpose({.in = block.params.data() + first * num_actions_,
                    .in_stride = num_actions_,
                    .out = columns.logits.data(),
                    .out_stride = fused::kDrawRows,
                    .rows = rows,
                    .columns = num_actions_});
  if (block.legal.empty()) { return; }
  const bool* legal = block.legal.data() + first * num_actions_;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t a = 0; a < num_actions_; ++a) {
      columns.legal[a * fused::kDrawRows + r] = legal[r * num_actions_ + a] ? 1.0F : 0.0F;
    }
  }
}

void CategoricalHead::sample_chunk(const ActionBlock& block, std::size_t first, std::size_t rows,
                                   const ActionNoise& noise) const {
  const bool masked = !block.legal.empty();
  Columns& columns = columns_of_size(num_actions_);
  fill(columns, block, first, rows);
  std::array<std::uint32_t, 4 * fused::kDrawRows> words{};
  fused::DrawColumn chosen{};
  fused::DrawColumn log_prob{};
  const RandomKey key{.seed = noise.seed,
                      .owner = static_cast<std::uint32_t>(noise.first_env + first),
                      .episode = noise.step,
                      .stream = Stream::action};
  std::size_t offset = 0;
  for (std::size_t d = 0; d < choices_.size(); ++d) {
    const std::size_t n = choices_[d];
    if (d % 4 == 0) { fused::random_words(key, d / 4, rows, words.data()); }
    const std::size_t bad = fused::draw_categorical(
        {.logits = columns.logits.data() + offset * fused::kDrawRows,
         .legal = masked ? columns.legal.data() + offset * fused::kDrawRows : nullptr,
         .words = words.data() + d % 4 * fused::kDrawRows,
         .chosen = chosen.data(),
         .log_prob = log_prob.data(),
         .n = n,
         .rows = rows});
    if (bad != fused::kNoRow) {
      const std::size_t row = (first + bad) * num_actions_ + offset;
      refuse(noise.first_env + first + bad,
             masked ? block.legal.subspan(row, n) : std::span<const bool>());
    }
    for (std::size_t r = 0; r < rows; ++r) {
      block.choices[(first + r) * choices_.size() + d] = static_cast<std::int64_t>(chosen[r]);
    }
    offset += n;
  }
  std::copy_n(log_prob.begin(), rows, block.log_prob.begin() + first);
}

void CategoricalHead::mode(const ActionBlock& block) const {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::size_t place = 0;
  for (std::size_t k = 0; k < block.choices.size(); ++k) {
    const std::size_t n = choices_[k % choices_.size()];
    std::size_t best = kNone;
    bool any_nan = false;  // which no comparison sees
    for (std::size_t a = 0; a < n; ++a) {
      const bool legal = block.legal.empty() || block.legal[place + a];
      any_nan = any_nan || (legal && std::isnan(block.params[place + a]));
      if (legal && (best == kNone || block.params[place + a] > block.params[place + best])) {
        best = a;
      }
    }
    if (best == kNone || any_nan || !std::isfinite(block.params[place + best])) {
      refuse(k / choices_.size(),
             block.legal.empty() ? block.legal : block.legal.subspan(place, n));
    }
    block.choices[k] = best;
    place += n;
  }
}

fused::Head CategoricalHead::fused() const {
  fused::Head head{.dims = choices_.size(), .masked = spec_.masked()};
  head.choices.assign(choices_.begin(), choices_.end());
  return head;
}

void CategoricalHead::to_env(std::span<const float>, std::span<float>) const {}

}  // namespace penstock::detail
