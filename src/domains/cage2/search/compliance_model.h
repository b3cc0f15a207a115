#pragma once
#include "penstock/domains/cage2/search/search.h"

namespace penstock::cage2::detail {

/// How likely a run of each order is to comply, by index: from a second process with the Mallows
/// kernel, over the compliance of every order tried, so that those that do not count for their
/// return still teach where not to look. All 1 before the first.
search::Scores chance_to_comply(const SearchOptions& options, const std::vector<Measured>& orders);

/// Marks the orders that are hardly worth a try as taken. At least `size` are left, the likeliest,
/// as long as there are so many.
search::Flags without_unlikely(search::Flags taken, const search::Scores& chance, int size);

/// The likeliest ones that are not taken.
std::vector<int> pick_likeliest(int size, const search::Scores& chance, const search::Flags& taken);

}  // namespace penstock::cage2::detail
