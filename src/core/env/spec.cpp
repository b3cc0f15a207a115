#include "penstock/core/env/spec.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "penstock/core/base/check.h"
#include "penstock/core/base/errors.h"

namespace penstock {
namespace {

// Floats hold whole numbers exactly up to here.
constexpr std::size_t kMaxPlaces = std::size_t{1} << 24U;

std::size_t product(const std::vector<std::int64_t>& shape) {
  const auto size =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  PENSTOCK_CHECK(size, >, 0);
  return size;
}

void collect_counts(const Part& part, std::span<const float> counts, std::span<float> places) {
  std::size_t used = 0;
  for (std::size_t place = 0; place < counts.size(); ++place) {
    const float count = counts[place];
    if (!(count >= 0 && count <= places.size() - used) || count != std::floor(count)) {
      throw UsageError("the observation's part '" + part.name +
                       "': expected counts, whole numbers whose sum is at most " +
                       std::to_string(part.size));
    }
    const std::size_t times = count;
    std::ranges::fill(places.subspan(used, times), place);
    used += times;
  }
  std::ranges::fill(places.subspan(used), -1.0F);
}

}  // namespace

Layout::Layout(std::initializer_list<std::pair<std::string, std::vector<std::int64_t>>> parts) {
  for (const auto& [name, shape] : parts) { append(name, shape); }
}

Layout::Layout(std::int64_t size) : Layout({{"obs", {size}}}) {}

void Layout::append(std::string name, std::vector<std::int64_t> shape,
                    std::vector<Lookup> lookups) {
  const std::size_t size = product(shape);
  add({.name = std::move(name),
       .shape = std::move(shape),
       .size = size,
       .num_features = size,
       .lookups = std::move(lookups)});
}

void Layout::append_counts(std::string name, std::vector<std::int64_t> shape, std::size_t most) {
  const std::size_t num_features = product(shape);
  add({.name = std::move(name),
       .shape = std::move(shape),
       .size = most,
       .num_features = num_features,
       .counts = true});
}

void Layout::add(Part part) {
  PENSTOCK_CHECK(part.size, >, std::size_t{0});
  PENSTOCK_CHECK(part.num_features, <=, kMaxPlaces);
  part.offset = size_;
  part.first_feature = num_features_;
  size_ += part.size;
  num_features_ += part.num_features;
  any_counts_ = any_counts_ || part.counts;
  parts_.push_back(std::move(part));
}

void Layout::expand(std::span<const float> row, std::span<float> features) const {
  for (const Part& part : parts_) {
    const auto from = row.subspan(part.offset, part.size);
    const auto to = features.subspan(part.first_feature, part.num_features);
    if (!part.counts) {
      std::ranges::copy(from, to.begin());
      continue;
    }
    std::ranges::fill(to, 0.0F);
    for (const float place : from) {
      if (place >= 0) { to[static_cast<std::size_t>(place)] += 1; }
    }
  }
}

void Layout::collect(std::span<const float> features, std::span<float> row) const {
  for (const Part& part : parts_) {
    const auto from = features.subspan(part.first_feature, part.num_features);
    const auto to = row.subspan(part.offset, part.size);
    if (part.counts) {
      collect_counts(part, from, to);
    } else {
      std::ranges::copy(from, to.begin());
    }
  }
}

std::vector<bool> Layout::names() const {
  std::vector<bool> names(size_, false);
  for (const Part& part : parts_) {
    const auto first = names.begin() + part.offset;
    if (part.counts) { std::fill_n(first, part.size, true); }
    const std::size_t width = part.shape.back();
    for (const Lookup& lookup : part.lookups) {
      for (std::size_t i = lookup.column; i < part.size; i += width) {
        names[part.offset + i] = true;
      }
    }
  }
  return names;
}

const Part& Layout::part(std::string_view name) const {
  std::vector<std::string> names;
  for (const Part& part : parts_) {
    if (part.name == name) { return part; }
    names.push_back(part.name);
  }
  throw UsageError("no part '" + std::string(name) + "' in the observation" +
                   did_you_mean(name, names));
}

ActionSpec::ActionSpec(Discrete discrete)
    : kind_(discrete),
      choices_{discrete.n},
      dims_(1),
      num_actions_(discrete.n),
      masked_(discrete.masked) {}

ActionSpec::ActionSpec(MultiDiscrete multi)
    : kind_(multi),
      choices_(multi.n),
      dims_(multi.n.size()),
      num_actions_(std::accumulate(multi.n.begin(), multi.n.end(), std::int64_t{0})),
      masked_(multi.masked) {}

ActionSpec::ActionSpec(Box box) : kind_(box), dims_(box.low.size()) {
  PENSTOCK_CHECK(box.low.size(), ==, box.high.size());
}

namespace {

void require(bool holds, const std::string& what) {
  if (!holds) { throw ConfigError("the env's spec: " + what); }
}

void check_layout(const Layout& layout) {
  require(layout.size() > 0, "the observation has no numbers");
  std::set<std::string> names;
  for (const Part& part : layout.parts()) {
    require(names.insert(part.name).second, "two parts are called '" + part.name + "'");
  }
}

void check_box(const Box& box) {
  require(!box.low.empty(), "a box without dimensions");
  for (std::size_t d = 0; d < box.low.size(); ++d) {
    // Nothing can be drawn between equal bounds: a squashed action would have no density.
    require(box.low[d] < box.high[d],
            "dimension " + std::to_string(d) + " of the box has low not below high");
  }
}

const char* text_of(StepKind kind) {
  switch (kind) {
    case StepKind::choice:
      return "step(std::int64_t), which is for Discrete";
    case StepKind::choices:
      return "step(std::span<const std::int64_t>), which is for MultiDiscrete";
    case StepKind::point:
      return "step(std::span<const float>), which is for Box";
  }
  return "";
}

}  // namespace

void check_spec(const EnvSpec& spec, StepKind step) {
  check_layout(spec.obs);
  const ActionSpec& action = spec.action;
  const StepKind kind = action.continuous() ? StepKind::point
                        : action.multi()    ? StepKind::choices
                                            : StepKind::choice;
  // A Discrete is a MultiDiscrete of one choice.
  const bool fits = kind == step || (kind == StepKind::choice && step == StepKind::choices);
  require(fits, std::string("the action is ") +
                    (action.continuous() ? "a Box"
                     : action.multi()    ? "MultiDiscrete"
                                         : "Discrete") +
                    ", but the env has " + text_of(step));
  if (action.continuous()) { check_box(action.box()); }
  require(action.continuous() || action.dims() > 0, "there is nothing to choose");
  for (const std::int64_t n : action.choices()) {
    require(n > 0, "a choice among " + std::to_string(n) + " alternatives");
  }
  require(spec.stats.size() <= kMaxStats, std::to_string(spec.stats.size()) +
                                              " statistics, at most " + std::to_string(kMaxStats) +
                                              " are kept");
  require(spec.max_episode_steps >= 0, "max_episode_steps is negative");
}

}  // namespace penstock
