#include "penstock/core/act/obs_normaliser.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace penstock {
namespace {

constexpr double kEpsilon = 1e-8;  // of a feature that never moved

}  // namespace

ObsNormaliser::ObsNormaliser(const Layout& layout, double clip)
    : moments_(layout.size()), names_(layout.names()) {
  for (const bool name : names_) {
    bound_.push_back(name ? std::numeric_limits<float>::infinity() : static_cast<float>(clip));
  }
  refresh();
}

void ObsNormaliser::apply(std::span<float> rows) const {
  const std::size_t features = mean_.size();
  for (std::size_t row = 0; row < rows.size(); row += features) {
    for (std::size_t f = 0; f < features; ++f) {
      const float z = (rows[row + f] - mean_[f]) * inverse_[f];
      rows[row + f] = std::clamp(z, -bound_[f], bound_[f]);
    }
  }
}

void ObsNormaliser::tally(std::span<const float> rows, std::span<Moments> features) const {
  for (std::size_t row = 0; row < rows.size(); row += features.size()) {
    for (std::size_t f = 0; f < features.size(); ++f) { features[f].add(rows[row + f]); }
  }
}

void ObsNormaliser::merge(std::span<const Moments> features) {
  for (std::size_t f = 0; f < moments_.size(); ++f) { moments_[f].merge(features[f]); }
  refresh();
}

void ObsNormaliser::set_moments(std::vector<Moments> moments) {
  moments_ = std::move(moments);
  refresh();
}

void ObsNormaliser::refresh() {
  mean_.resize(moments_.size());
  inverse_.resize(moments_.size());
  for (std::size_t f = 0; f < moments_.size(); ++f) {
    if (names_[f]) {
      mean_[f] = 0;
      inverse_[f] = 1;
      continue;
    }
    mean_[f] = moments_[f].mean;
    inverse_[f] = 1.0 / std::sqrt(moments_[f].variance() + kEpsilon);
  }
}

}  // namespace penstock
