#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"
#include "penstock/domains/booking/routing/parsers.h"

namespace penstock::booking {
namespace {

[[noreturn]] void fail(const std::string& name, std::string_view message) {
  throw DataError(fmt::format("{}: {}", name, message));
}

Json read_json(std::string_view text, const std::string& name) {
  try {
    return parse_json(text);
  } catch (const Json::parse_error& error) {
    const auto end = std::min(error.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + end, '\n');
    throw DataError(fmt::format("{}:{}: not JSON at byte {}; save OSRM's answer as it comes", name,
                                line, error.byte));
  } catch (const Json::exception&) {  // a number beyond all doubles
    fail(name, "a number is too large; save OSRM's answer as it comes");
  }
}

std::int32_t entry(const Json& value, const std::string& name, const std::string& key,
                   std::size_t row, std::size_t column) {
  constexpr double kMost = 500'000'000;
  const double number = value.is_number() ? value.get<double>() : -1;
  if (!(number >= 0 && number <= kMost)) {
    fail(name, fmt::format("{}[{}][{}] is not a number from 0 to {:.0f}; null means that OSRM "
                           "found no way: leave such a place out",
                           key, row, column, kMost));
  }
  return std::lround(number);
}

std::vector<std::int32_t> read_matrix(const Json& rows, const std::string& name,
                                      const std::string& key, std::size_t places) {
  if (!rows.is_array() || rows.size() != places) {
    fail(name, fmt::format("{} does not have {} rows", key, places));
  }
  std::vector<std::int32_t> matrix;
  for (std::size_t i = 0; i < places; ++i) {
    const Json& row = rows[i];
    if (!row.is_array() || row.size() != places) {
      fail(name, fmt::format("{}[{}] does not have {} entries: ask OSRM for all sources and all "
                             "destinations",
                             key, i, places));
    }
    for (std::size_t k = 0; k < places; ++k) { matrix.push_back(entry(row[k], name, key, i, k)); }
  }
  return matrix;
}

}  // namespace

OsrmTable parse_osrm_table(std::string_view text, const std::string& name) {
  const Json answer = read_json(text, name);
  if (answer.is_object() && answer.contains("code") && answer["code"] != "Ok") {
    fail(name, "OSRM's code is not Ok; ask it again");
  }
  if (!answer.is_object() || !answer.contains("durations") || !answer["durations"].is_array()) {
    fail(name, "no durations; this should be the answer of OSRM's table service");
  }
  OsrmTable table;
  table.places = answer["durations"].size();
  if (table.places == 0 || table.places > kMostNodes) {
    fail(name, fmt::format("{} places; 1 to {} are read", table.places, kMostNodes));
  }
  table.durations = read_matrix(answer["durations"], name, "durations", table.places);
  if (answer.contains("distances")) {
    table.distances = read_matrix(answer["distances"], name, "distances", table.places);
  }
  return table;
}

}  // namespace penstock::booking
