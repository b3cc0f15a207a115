#pragma once
#include "penstock/domains/cage2/search/search.h"

namespace penstock::cage2::detail {

/// Pictures of the report, each an <svg>.
std::string ranking_chart(const SearchOptions& options, const SearchResult& result);
/// The mean over all orders with a type at a position.
std::string heat_map(const std::array<double, search::kNumOrders>& values,
                     const std::string& title);
/// Regret where it is known, else the best so far.
std::string progress_chart(const SearchOptions& options, const SearchResult& result);
/// All 120 by falling belief.
std::string belief_chart(const SearchOptions& options, const SearchResult& result);
enum class CurveKind { reward, compliance };
std::string curve_chart(const SearchOptions& options, const SearchResult& result, CurveKind kind);

}  // namespace penstock::cage2::detail
