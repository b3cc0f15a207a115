// Annealing stays near the best known on published instances of every kind. The budgets are
// iterations, so that the outcome does not depend on the machine; the limits leave a margin to what
// was measured, bench/reports holds the gaps at 10 s.
#include <doctest/doctest.h>

#include <numeric>

#include "penstock/core/base/text_file.h"
#include "penstock/domains/booking/routing/anneal.h"
#include "penstock/domains/booking/routing/checker.h"
#include "penstock/domains/booking/routing/parsers.h"
#include "support/sanitized.h"
#include "unit/domains/booking/routing/data.h"

namespace penstock::booking::gap_test {
namespace {

struct Case {
  const char* file;
  ParsedInstance (*parse)(std::string_view, const std::string&, Convention);
  Convention convention;
  std::int32_t vehicles;  // 0: they do not count
  double best;            // known, in the file's own units
  double limit;           // of the gap
  std::int64_t rounds = 15000;
};

const Case kCases[] = {
    {"solomon100/R112.txt", parse_solomon, Convention::dimacs, 0, 948.6, 0.03},
    {"solomon100/RC208.txt", parse_solomon, Convention::dimacs, 0, 776.1, 0.03},
    {"lilim_pdptw/lrc205.txt", parse_lilim, Convention::sintef, 4, 1302.2, 0.03},
    {"homberger/r2_2_1.txt", parse_solomon, Convention::sintef, 4, 4483.16, 0.10, 40000},
    {"homberger/r2_2_5.txt", parse_solomon, Convention::sintef, 4, 3366.79, 0.08},
};

TEST_CASE("a second or two of annealing ends near the best known" * doctest::skip(kSanitized)) {
  for (const Case& known : kCases) {
    CAPTURE(known.file);
    const std::string path = (data_folder() / known.file).string();
    if (!std::filesystem::exists(path)) {
      MESSAGE("skipped, no ", path);
      continue;
    }
    const Instance instance = known.parse(read_text(path), known.file, known.convention).instance;
    const Annealed found = anneal(instance, {.seconds = 0,
                                             .iterations = known.rounds,
                                             .chains = 2,
                                             .vehicles_first = known.vehicles > 0});
    std::vector<std::int32_t> all(static_cast<std::size_t>(instance.num_requests()));
    std::iota(all.begin(), all.end(), 0);
    CHECK(find_violation(instance, found.plan, all).value_or("") == "");
    if (known.vehicles > 0) { CHECK(found.vehicles == known.vehicles); }
    const double gap =
        static_cast<double>(found.cost) / units_of(known.convention) / known.best - 1;
    CHECK(gap < known.limit);
    CHECK(gap > -0.0005);  // below the best known there is only a wrong cost
  }
}

}  // namespace
}  // namespace penstock::booking::gap_test
