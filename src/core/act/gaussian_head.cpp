#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/act/heads.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/core/fused/sample.h"

namespace penstock::detail {
namespace {

const double kHalfLog2Pi = 0.5 * std::log(2 * std::numbers::pi);

/// log |d tanh(u) / du|, stable for large |u|.
double log_slope(double u) {
  return 2 *
         (std::numbers::ln2 - u - std::log1p(std::exp(-2 * std::abs(u))) - std::max(0.0, -2 * u));
}

}  // namespace

GaussianHead::GaussianHead(Box box, bool squash)
    : spec_(box), box_(std::move(box)), dims_(box_.low.size()), squash_(squash) {
  for (std::size_t d = 0; d < dims_ && squash_; ++d) {
    if (!std::isfinite(box_.low[d]) || !std::isfinite(box_.high[d])) {
      throw ConfigError(
          "net.squash = true: the env's action box has no finite bounds to squash into");
    }
  }
}

void GaussianHead::sample(const ActionBlock& block, const ActionNoise& noise) const {
  const std::size_t num_rows = block.params.size() / num_params();
  for (std::size_t first = 0; first < num_rows; first += fused::kDrawRows) {
    sample_chunk(block, first, std::min(fused::kDrawRows, num_rows - first), noise);
  }
}

void GaussianHead::sample_chunk(const ActionBlock& block, std::size_t first, std::size_t rows,
                                const ActionNoise& noise) const {
  const RandomKey key{.seed = noise.seed,
                      .owner = static_cast<std::uint32_t>(noise.first_env + first),
                      .episode = noise.step,
                      .stream = Stream::action};
  std::array<std::uint32_t, 4 * fused::kDrawRows> words{};
  fused::DrawColumn normal{};
  std::array<double, fused::kDrawRows> log_prob{};
  for (std::size_t d = 0; d < dims_; ++d) {
    if (d % 2 == 0) {  // two words a number, four a block
      fused::random_words(key, d / 2, rows, words.data());
    }
    const std::uint32_t* pair = words.data() + d % 2 * 2 * fused::kDrawRows;
    fused::draw_normal(pair, pair + fused::kDrawRows, rows, normal.data());
    for (std::size_t r = 0; r < rows; ++r) {
      const float* params = block.params.data() + (first + r) * num_params();
      const double log_std = params[dims_ + d];
      const double z = normal[r];
      const double point = params[d] + std::exp(log_std) * z;
      log_prob[r] += -0.5 * z * z - log_std - kHalfLog2Pi;
      if (squash_) {
        log_prob[r] -= log_slope(point) + std::log(0.5 * (box_.high[d] - box_.low[d]));
      }
      block.points[(first + r) * dims_ + d] = point;
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    if (!std::isfinite(log_prob[r])) {
      throw DataError("env " + std::to_string(noise.first_env + first + r) +
                      ": the policy's output is not finite");
    }
    block.log_prob[first + r] = log_prob[r];
  }
}

void GaussianHead::mode(const ActionBlock& block) const {
  const std::size_t rows = block.params.size() / num_params();
  for (std::size_t i = 0; i < rows; ++i) {
    const std::span<const float> mean = block.params.subspan(2 * i * dims_, dims_);
    std::copy(mean.begin(), mean.end(), block.points.begin() + i * dims_);
  }
}

void GaussianHead::to_env(std::span<const float> points, std::span<float> actions) const {
  for (std::size_t k = 0; k < points.size(); ++k) {
    const float low = box_.low[k % dims_];
    const float high = box_.high[k % dims_];
    const float inside =
        squash_ ? low + 0.5F * (std::tanh(points[k]) + 1.0F) * (high - low) : points[k];
    actions[k] = std::clamp(inside, low, high);
  }
}

fused::Head GaussianHead::fused() const {
  fused::Head head{.dims = dims_, .squash = squash_};
  for (std::size_t d = 0; d < dims_ && squash_; ++d) {
    head.squash_log_scale += std::log(0.5 * (box_.high[d] - box_.low[d]));
  }
  return head;
}

}  // namespace penstock::detail

namespace penstock {

std::unique_ptr<ActionHead> make_action_head(const ActionSpec& spec, bool squash) {
  if (spec.continuous()) { return std::make_unique<detail::GaussianHead>(spec.box(), squash); }
  if (squash) { throw ConfigError("net.squash = true: only box actions can be squashed"); }
  return std::make_unique<detail::CategoricalHead>(spec);
}

}  // namespace penstock
