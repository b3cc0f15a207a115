#include <algorithm>
#include <cmath>
#include <map>

#include "penstock/app/fleet/fleet.h"

namespace penstock::fleet {
namespace {

/// What is known of every trial at one stage. A trial that reached its end or failed before the
/// stage counts with that.
class Standing {
 public:
  Standing(const std::vector<Entry>& entries, Stage last) : last_(last) {
    for (const Entry& entry : entries) { by_trial_[entry.trial].push_back(&entry); }
  }

  [[nodiscard]] const Entry* at(std::size_t trial, Stage stage) const {
    const auto found = by_trial_.find(trial);
    if (found == by_trial_.end()) { return nullptr; }
    for (const Entry* entry : found->second) {
      const bool final = entry->exit != 0 || entry->stage == last_;
      if (entry->stage == stage || final) { return entry; }
    }
    return nullptr;
  }

 private:
  Stage last_;
  std::map<std::size_t, std::vector<const Entry*>> by_trial_;
};

/// Mean over the seeds that got there; a cell without one comes last.
double score_of(const Fleet& fleet, const Standing& standing, std::size_t cell, Stage stage) {
  double sum = 0;
  std::int64_t count = 0;
  const std::size_t seeds = fleet.config().seeds.size();
  for (std::size_t trial = cell * seeds; trial < (cell + 1) * seeds; ++trial) {
    const Entry* entry = standing.at(trial, stage);
    if (entry->exit != 0 || std::isnan(entry->score)) { continue; }
    sum += entry->score;
    ++count;
  }
  return count == 0 ? -std::numeric_limits<double>::infinity() : sum / count;
}

std::vector<std::size_t> missing_of(const Fleet& fleet, const Standing& standing,
                                    const std::vector<std::size_t>& cells, Stage stage) {
  std::vector<std::size_t> missing;
  const std::size_t seeds = fleet.config().seeds.size();
  for (const std::size_t cell : cells) {
    for (std::size_t trial = cell * seeds; trial < (cell + 1) * seeds; ++trial) {
      if (standing.at(trial, stage) == nullptr) { missing.push_back(trial); }
    }
  }
  return missing;
}

std::vector<std::size_t> best_of(const Fleet& fleet, const Standing& standing,
                                 std::vector<std::size_t> cells, Stage stage) {
  std::map<std::size_t, double> scores;
  for (const std::size_t cell : cells) { scores[cell] = score_of(fleet, standing, cell, stage); }
  std::ranges::stable_sort(cells,
                           [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  const auto kept = static_cast<std::size_t>(std::ceil(fleet.config().keep * cells.size()));
  cells.resize(std::max<std::size_t>(kept, 1));
  std::ranges::sort(cells);
  return cells;
}

}  // namespace

Work next_work(const Fleet& fleet, const std::vector<Entry>& entries) {
  const Stage last = fleet.config().rungs.size();
  const Standing standing(entries, last);
  Work work;
  for (std::size_t cell = 0; cell < fleet.cells().size(); ++cell) { work.cells.push_back(cell); }
  for (;; ++work.stage) {
    work.trials = missing_of(fleet, standing, work.cells, work.stage);
    if (!work.trials.empty() || work.stage == last) { return work; }
    work.cells = best_of(fleet, standing, std::move(work.cells), work.stage);
  }
}

}  // namespace penstock::fleet
