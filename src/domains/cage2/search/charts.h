#pragma once
#include "penstock/domains/cage2/search/search.h"

namespace penstock::cage2::detail {

/// Pictures of the report, each an <svg>.
std::string ranking_chart(const SearchOptions& options, const SearchResult& result);
/// How far orders with a type at a place lie from the mean of all, with half of the 95 % interval.
struct HeatCell {
  double mean = 0;
  double half = 0;
  bool told = false;        // false: all candidates have the type there, or none
  bool replicated = false;  // false: what a training seed changes is not known
};
using HeatMap = std::array<std::array<HeatCell, 5>, 5>;  // [type][place]
/// As the process believes, and as the ground truth has it.
HeatMap believed_heat(const SearchResult& result);
HeatMap true_heat(const SearchOptions& options, const SearchResult& result);
/// Cells whose interval has 0 in it have no colour, nor has any where no order was trained twice.
std::string heat_map(const HeatMap& cells, const std::string& title);
/// Regret where it is known, else the best so far.
std::string progress_chart(const SearchOptions& options, const SearchResult& result);
/// All candidates by falling belief.
std::string belief_chart(const SearchOptions& options, const SearchResult& result);
enum class CurveKind { reward, compliance };
std::string curve_chart(const SearchOptions& options, const SearchResult& result, CurveKind kind);

}  // namespace penstock::cage2::detail
