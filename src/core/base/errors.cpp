#include "penstock/core/base/errors.h"

#include <algorithm>
#include <numeric>

namespace penstock {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  // Two slips, or half of a long word, may be wrong: "mpl" is a misspelling of "mlp", "lr" none of
  // "clip".
  constexpr std::size_t kLongest = 200;  // the work grows with it, and no name is near
  if (word.size() > kLongest) { return ""; }
  std::size_t best = std::max<std::size_t>(2, word.size() / 2) + 1;
  std::string found;
  for (const std::string& candidate : candidates) {
    // Each letter too many is an edit; a candidate may be a stranger's, and as long as a file.
    if (candidate.size() >= word.size() + best) { continue; }
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::string found = nearest(word, candidates);
  return found.empty() ? "" : ", did you mean '" + found + "'?";
}

}  // namespace penstock
