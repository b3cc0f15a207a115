#pragma once
#include "domains/booking/routing/text_scanner.h"
#include "penstock/domains/booking/routing/parsers.h"

namespace penstock::booking {

/// A place of a benchmark file in the file's own units.
struct FileNode {
  Point at;
  double load = 0;
  double earliest = 0;
  double latest = 0;
  double service = 0;
  std::size_t line = 0;  // of the file, where it is one
};

/// In the convention's units. Sums of times along any route of kMostNodes stay below 2^31 as long
/// as each is at most kMostUnits and ends with a check of a window; the scanner complains if not.
std::int32_t to_units(double value, std::int32_t scale, const Scanner& at, std::string_view what);

/// The node, its load a whole number.
Node node_from(const FileNode& from, std::int32_t scale, const Scanner& at);

/// Both matrices from the points, which are in the file's units.
void fill_euclidean(Convention convention, Instance& instance, const Scanner& at);

/// Complains when the convention has no meaning for a file of coordinates.
void require_euclidean(Convention convention, const Scanner& at);

}  // namespace penstock::booking
