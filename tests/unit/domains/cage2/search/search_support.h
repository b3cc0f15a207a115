#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <set>

#include "penstock/core/base/errors.h"
#include "penstock/domains/cage2/search/search.h"
#include "penstock/domains/cage2/search/synthetic.h"
#include "unit/core/store/support.h"

namespace penstock::cage2::test {

using penstock::test::slurp;
using penstock::test::spill;
using penstock::test::TempDir;

/// All 120 orders, one training each.
inline SearchOptions quick_options() {
  SearchOptions options;
  options.evaluator = "synthetic";
  options.all_orders = true;
  options.num_seeds = 1;
  options.truth_seeds = 1;
  options.baselines = false;
  return options;
}

inline std::vector<int> indices_of(const std::vector<Trial>& trials) {
  std::vector<int> indices;
  for (const Trial& trial : trials) { indices.push_back(trial.index); }
  return indices;
}

inline std::size_t num_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace penstock::cage2::test
