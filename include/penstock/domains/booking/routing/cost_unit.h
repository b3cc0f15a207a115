#pragma once
#include <cstdint>

namespace penstock::booking {

/// What the distances of an instance are, and with them all its costs: metres of road, or seconds
/// of driving where a file knows no lengths.
enum class CostUnit : std::uint8_t { metres, seconds };

/// The unit in which people are told costs and rewards: "km" or "min". Static memory.
constexpr const char* name_of(CostUnit unit) { return unit == CostUnit::metres ? "km" : "min"; }

/// A cost in that unit.
constexpr double in_unit(double cost, CostUnit unit) {
  constexpr double kMetres = 1000;
  constexpr double kSeconds = 60;
  return cost / (unit == CostUnit::metres ? kMetres : kSeconds);
}

/// What a km of a price counts: where costs are seconds, those of a km at 24 km/h, the speed of all
/// days that are made without a map.
constexpr std::int64_t cost_of_km(CostUnit unit) { return unit == CostUnit::metres ? 1000 : 150; }

}  // namespace penstock::booking
