#pragma once
#include <string>
#include <vector>

#include "penstock/app/fleet/fleet.h"

namespace penstock::fleet {

/// The command line of a trial, from "fleet" on, without its number.
std::vector<std::string> trial_words(const Fleet& fleet, const Folder& folder);

namespace detail {

/// Follows the ledger and tells each entry that is new to it.
class Teller {
 public:
  Teller(const Fleet& fleet, const Folder& folder, Note note);

  /// Reads the ledger again.
  void update();
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// Of a fleet that is over: exit 1 where a trial failed.
  [[nodiscard]] Exit end() const;

 private:
  void tell(const Entry& entry) const;

  const Fleet& fleet_;
  const Folder& folder_;
  Note note_;
  std::vector<Entry> entries_;
};

}  // namespace detail
}  // namespace penstock::fleet
