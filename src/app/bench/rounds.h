#pragma once
#include "penstock/app/bench/bench.h"
#include "penstock/core/base/stopwatch.h"

namespace penstock::detail {

/// Counts the rounds of a bench, by number or by time, and tells whoever watches.
class Rounds {
 public:
  explicit Rounds(const BenchOptions& options) : options_(options) {}

  /// True while there is another round to run.
  bool next() {
    const bool timed = options_.duration_s > 0;
    if (done_ > 0) { options_.progress(done_, timed ? 0 : options_.rounds); }
    const bool more =
        timed ? done_ == 0 || watch_.seconds() < options_.duration_s : done_ < options_.rounds;
    ++done_;
    return more;
  }

 private:
  const BenchOptions& options_;
  Stopwatch watch_;
  int done_ = 0;
};

}  // namespace penstock::detail
