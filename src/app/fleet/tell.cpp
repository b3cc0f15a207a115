#include "app/fleet/tell.h"

#include <fmt/format.h>

#include <algorithm>

namespace penstock::fleet {

std::vector<std::string> trial_words(const Fleet& fleet, const Folder& folder) {
  return {"fleet", fleet.file(), "--out", folder.path()};
}

namespace detail {

Teller::Teller(const Fleet& fleet, const Folder& folder, Note note)
    : fleet_(fleet), folder_(folder), note_(std::move(note)), entries_(folder.entries()) {}

void Teller::update() {
  const std::vector<Entry> now = folder_.entries();
  for (std::size_t i = entries_.size(); i < now.size(); ++i) { tell(now[i]); }
  entries_ = now;
}

void Teller::tell(const Entry& entry) const {
  const Stage last = fleet_.config().rungs.size();
  const std::string who = fmt::format(
      "trial {} of {} ({}, seed {})", entry.trial, fleet_.num_trials(),
      label_of(fleet_.cells()[fleet_.cell_of(entry.trial)]), fleet_.seed_of(entry.trial));
  if (entry.exit != 0) {
    note_(fmt::format("{} failed with {}: {}", who, entry.exit, entry.error));
  } else {
    note_(fmt::format("{} {} {} steps: {:.2f}", who, entry.stage == last ? "ended after" : "is at",
                      entry.steps, entry.score));
  }
}

Exit Teller::end() const {
  const bool failed =
      std::ranges::any_of(entries_, [](const Entry& entry) { return entry.exit != 0; });
  return failed ? Exit::failed : Exit::ok;
}

}  // namespace detail
}  // namespace penstock::fleet
