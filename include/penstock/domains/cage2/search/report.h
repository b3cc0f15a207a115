#pragma once
#include <string>

#include "penstock/domains/cage2/search/search.h"

namespace penstock::cage2 {

/// Everything of a result, for programs. Nothing in it depends on time or on the machine.
std::string search_json(const SearchOptions& options, const SearchResult& result);

/// The best in a few numbers: one line of JSON.
std::string summary_json(const SearchOptions& options, const SearchResult& result);

/// All orders by falling belief, what was measured of them, and what the exhaustive evaluation
/// gave.
std::string orders_csv(const SearchOptions& options, const SearchResult& result);
/// Every point of every learning curve.
std::string curves_csv(const SearchResult& result);
/// Regret by number of evaluations; only the header without an exhaustive evaluation.
std::string regret_csv(const SearchResult& result);

/// One page, nothing loaded from elsewhere, light and dark.
std::string report_html(const SearchOptions& options, const SearchResult& result);

/// search.json, orders.csv, curves.csv, regret.csv and report.html in a folder.
void write_results(const std::string& folder, const SearchOptions& options,
                   const SearchResult& result);

}  // namespace penstock::cage2
