#include "penstock/env/spec.h"

#include <functional>
#include <numeric>

#include "penstock/base/check.h"
#include "penstock/base/errors.h"

namespace penstock {

Layout::Layout(std::initializer_list<std::pair<std::string, std::vector<std::int64_t>>> parts) {
  for (const auto& [name, shape] : parts) { append(name, shape); }
}

void Layout::append(std::string name, std::vector<std::int64_t> shape) {
  const auto size =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  PENSTOCK_CHECK(size, >, 0);
  parts_.push_back({std::move(name), std::move(shape), size_, static_cast<std::size_t>(size)});
  size_ += static_cast<std::size_t>(size);
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
      num_actions_(static_cast<std::size_t>(discrete.n)),
      masked_(discrete.masked) {}

ActionSpec::ActionSpec(MultiDiscrete multi)
    : kind_(multi),
      choices_(multi.n),
      dims_(multi.n.size()),
      num_actions_(static_cast<std::size_t>(
          std::accumulate(multi.n.begin(), multi.n.end(), std::int64_t{0}))),
      masked_(multi.masked) {}

ActionSpec::ActionSpec(Box box) : kind_(box), dims_(box.low.size()) {
  PENSTOCK_CHECK(box.low.size(), ==, box.high.size());
}

}  // namespace penstock
