#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/text_file.h"
#include "penstock/domains/booking/routing/parsers.h"

// Files as they come from elsewhere: each is right but for one thing, which the error names with
// its line.

namespace penstock::booking::malformed_test {
namespace {

std::string with(std::string text, const std::string& what, const std::string& instead) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), instead);
}

template <class Parse>
std::string complaint_of(const Parse& parse) {
  try {
    parse();
  } catch (const DataError& error) { return error.what(); }
  return "none";
}

struct Damage {
  std::string what;
  std::string instead;
  std::string complaint;  // what it says; with the line, where it is of one line
};

template <class Parse>
void check_each(const std::string& good, const std::vector<Damage>& damages, const Parse& parse) {
  CHECK(complaint_of([&] { parse(good); }) == "none");
  for (const Damage& damage : damages) {
    const std::string told = complaint_of([&] { parse(with(good, damage.what, damage.instead)); });
    CAPTURE(damage.what);
    CAPTURE(damage.instead);
    CAPTURE(told);
    CHECK(told.find(damage.complaint) != std::string::npos);
  }
}

const std::string kPairs =
    "3 20 1\n"
    "0 0 0 0 0 100 0 0 0\n"
    "1 3 4 -5 0 90 1 3 0\n"
    "2 0 6 7 0 80 1 0 4\n"
    "3 1 0 5 0 70 1 0 1\n"
    "4 2 0 -7 0 60 1 2 0\n";

const std::string kDialARide =
    "2 4 480 3 30\n"
    "0 0 0 0 0 0 1440\n"
    "1 0 1 3 1 0 1440\n"
    "2 0 2 3 2 10 20\n"
    "3 1 0 3 -1 0 1440\n"
    "4 2 0 3 -2 0 1440\n";

const std::string kMatrixFile =
    "NAME : o\n"
    "DIMENSION : 3\n"
    "EDGE_WEIGHT_TYPE : EXPLICIT\n"
    "EDGE_WEIGHT_FORMAT : FULL_MATRIX\n"
    "CAPACITY : 9\n"
    "EDGE_WEIGHT_SECTION\n"
    "0 1 2\n3 0 4\n5 6 0\n"
    "DEMAND_SECTION\n1 0\n2 3\n3 4\n"
    "DEPOT_SECTION\n1\n-1\n"
    "TIME_WINDOW_SECTION\n1 0 900\n2 10 20\n3 30 40\n"
    "EOF\n";

}  // namespace

TEST_CASE("Li and Lim: pairs that do not name each other, and numbers that are none") {
  check_each(kPairs,
             {
                 {"3 20 1\n", "0 20 1\n", "p:1: the number of vehicles is '0', not a whole number"},
                 {"3 20 1\n", "3 -1 1\n", "p:1: the capacity is '-1', not a whole number"},
                 {"3 20 1\n", "3\n", "p:1: the line ends where the capacity should be"},
                 {"2 0 6 7", "5 0 6 7", "p:4: place 5 where 2 should be"},
                 {"2 0 6 7", "2 0 6 7.5", "p:4: pickup 2 takes on what drop-off 4 does not"},
                 {"80 1 0 4", "80 1 0 1", "p:4: pickup 2 names drop-off 1, which does not name it"},
                 {"80 1 0 4", "80 1 0 4999", "p:4: pickup 2 names drop-off 4999"},
                 {"80 1 0 4", "80 1 0 5001", "p:4: the drop-off is '5001', not a whole number"},
                 {"60 1 2 0", "60 1 0 0", "pickups and drop-offs are not equally many"},
                 {"0 70 1", "71 70 1", "p:5: the window ends at 70, before it begins at 71"},
                 {"0 70 1", "0 70 -1", "p:5: the service time -1 is negative"},
                 {"1 3 4", "1 3e9 4", "p:3: x is '3e9', not a number of at most 1e9"},
                 {"1 3 4", "1 3 100000000", "the distance 1000000000 is too large"},
                 {"1 3 4 -5 0 90 1 3 0", "1 3 4", "p:3: the line ends where the demand should be"},
             },
             [](const std::string& text) { parse_lilim(text, "p", Convention::dimacs); });
  CHECK(complaint_of([] { parse_lilim("", "p", Convention::dimacs); }).find("the file is empty") !=
        std::string::npos);
  CHECK(complaint_of([] {
          parse_lilim("3 20 1\n0 0 0 0 0 9 0 0 0\n", "p", Convention::dimacs);
        }).find("no pickups") != std::string::npos);
  CHECK(complaint_of([] {
          parse_lilim(kPairs, "p", Convention::ortec);
        }).find("choose dimacs or sintef") != std::string::npos);
}

TEST_CASE("dial-a-ride: as many places as are told, and an even number") {
  check_each(kDialARide,
             {
                 {"2 4 480", "2 3 480", "3 places told"},
                 {"2 4 480", "2 6 480", "6 places told, 4 found"},
                 {"2 4 480", "2 1 480", "d:1: the number of places is '1'"},
                 {"3 30\n", "3 -30\n", "d:1: the longest ride is negative"},
                 {"3 30\n", "3 99999999\n", "d:1: the longest ride 99999999 is too large"},
                 {"3 30\n", "3\n", "d:1: the line ends where the longest ride should be"},
                 {"4 2 0 3 -2 0 1440\n", "4 2 0 3 -2 0\n",
                  "d:6: the line ends where the latest time should be"},
                 {"2 0 2 3 2 10 20", "2 0 2 3 2 30 20", "d:4: the window ends at 20"},
                 {"2 0 2 3 2 10", "2 0 2 3 1.5 10", "d:4: the load 1.5 is not a whole number"},
             },
             [](const std::string& text) { parse_cordeau(text, "d", Convention::sintef); });
}

TEST_CASE("VRPLIB: what is missing, twice too long, or in the wrong place") {
  check_each(
      kMatrixFile,
      {
          {"DIMENSION : 3\n", "DIMENSION : 1\n", "v:2: DIMENSION is not a whole number from 2"},
          {"DIMENSION : 3\n", "DIMENSION : 3.5\n", "v:2: DIMENSION is not a whole number from 2"},
          {"DEMAND_SECTION\n", "DIMENSION : 4\nDEMAND_SECTION\n", "v:10: DIMENSION is given twice"},
          {"EOF\n", "SERVICE_TIME_SECTION\n1 0\n2 -1\n3 0\nNAME : o\n",
           "v:23: the service time -1 is negative"},
          {"CAPACITY : 9\n", "CAPACITY : 9\nSERVICE_TIME : 900000000\n",
           "v:6: the service time 900000000 is too large"},
          {"DIMENSION : 3\n", "", "v:5: EDGE_WEIGHT_SECTION before DIMENSION"},
          {"CAPACITY : 9\n", "", "CAPACITY is missing"},
          {"EXPLICIT", "GEO", "v:3: EDGE_WEIGHT_TYPE: only EUC_2D and EXPLICIT are read"},
          {"FULL_MATRIX", "LOWER_ROW", "v:4: EDGE_WEIGHT_FORMAT: only FULL_MATRIX is read"},
          {"NAME : o\n", "COLOUR : red\n", "v:1: neither a key nor a section that is read"},
          {"5 6 0\n", "5 6\n", "v:10: the weight is 'DEMAND_SECTION', not a whole number"},
          {"5 6 0\n", "5 6 0 7\n", "v:9: more than 9 weights"},
          {"5 6 0\n", "5 -6 0\n", "v:9: the weight is '-6', not a whole number from 0"},
          {"2 3\n", "3 3\n", "v:12: node 3 where 2 should be"},
          {"2 3\n", "2 3 1\n", "v:12: more in the line than the section has columns"},
          {"2 3\n", "2\n", "v:12: the line ends where the demand should be"},
          {"DEPOT_SECTION\n1\n", "DEPOT_SECTION\n2\n", "v:15: one depot, which is node 1"},
          {"1\n-1\n", "1\n", "v:16: the end of the depots is 'TIME_WINDOW_SECTION'"},
          {"TIME_WINDOW_SECTION\n1 0 900\n2 10 20\n3 30 40\n", "",
           "TIME_WINDOW_SECTION is missing"},
          {"3 30 40\nEOF\n", "", "v:19: the section ends before node 3"},
          {"2 10 20", "2 30 20", "v:19: the window ends at 20, before it begins at 30"},
          {"DEMAND_SECTION", "PICKUP_SECTION", "v:10: a section that is not read"},
          {"EDGE_WEIGHT_SECTION\n0 1 2\n3 0 4\n5 6 0\n", "", "EDGE_WEIGHT_SECTION is missing"},
      },
      [](const std::string& text) { parse_vrplib(text, "v", Convention::ortec); });
  CHECK(complaint_of([] {
          parse_vrplib("NAME : x\n", "v", Convention::ortec);
        }).find("no sections") != std::string::npos);
}

TEST_CASE("a list of requests: columns and cells") {
  const std::string list = "x,y,earliest,latest,to_x,to_y,load\n1,2,08:00,09:00,3,4,2\n";
  check_each(list,
             {
                 {"x,y,earliest", "x,why,earliest", "l:1: column 2 is not one of x, y, earliest"},
                 {",to_y,load", ",load", "l:1: to_x and to_y come together"},
                 {"1,2,08:00", "1,two,08:00", "l:2: y is not a number"},
                 {"08:00,", "8 o'clock,", "l:2: earliest is not a number"},
                 {"08:00,", "0.5,", "l:2: earliest is neither whole seconds of a week nor HH:MM"},
                 {"08:00,", "700000,", "l:2: earliest is neither whole seconds of a week nor"},
                 {"08:00,", "-1:90,", "l:2: earliest is neither whole seconds of a week nor HH:MM"},
                 {"08:00,", "08:75,", "l:2: earliest is neither whole seconds of a week nor HH:MM"},
                 {"08:00,", "08:,", "l:2: earliest is not a number"},
                 {"08:00,", "8.5:30,", "l:2: earliest is neither whole seconds of a week nor"},
                 {"y,earliest", "x,earliest", "l:1: two columns are called x"},
                 {"08:00,09:00", "09:00,08:00", "l:2: latest lies before earliest"},
                 {",2\n", ",-2\n", "l:2: load is not a whole number from 0 to 1000000"},
                 {",2\n", ",1.5\n", "l:2: load is not a whole number from 0 to 1000000"},
                 {",3,4,2\n", ",3\n", "l:2: the line ends before its column to_y"},
                 {"1,2,08:00,09:00,3,4,2\n", "", "no requests: add a line for each"},
                 {"1,2,08:00,09:00,3,4,2\n", "1,2,08:00,09:00,3,4,2\ndepot,1,2\n",
                  "l:3: the depot is one line depot,x,y before the requests"},
                 {"load\n", "load\ndepot,1\n", "l:2: the depot is one line depot,x,y before"},
             },
             [](const std::string& text) { parse_requests_csv(text, "l"); });
  CHECK(complaint_of([] { parse_requests_csv("\n \n", "l"); }).find("the file is empty") !=
        std::string::npos);
}

TEST_CASE("OSRM's table: rows, entries, and a code that is not Ok") {
  const std::string table =
      R"({"code": "Ok", "durations": [[0, 10], [12, 0]], "distances": [[0, 1], [2, 0]]})";
  check_each(table,
             {
                 {"\"Ok\"", "\"NoTable\"", "o: OSRM's code is not Ok; ask it again"},
                 {R"("Ok", "durations": [[0, 10], [12, 0]])", R"("NoTable", "message": "none")",
                  "o: OSRM's code is not Ok; ask it again"},
                 {"durations", "times", "o: no durations; this should be the answer of OSRM's"},
                 {"[[0, 10], [12, 0]]", "7", "o: no durations"},
                 {"[[0, 10], [12, 0]]", "[]", "o: 0 places; 1 to 5000 are read"},
                 {"[12, 0]", "[12]", "o: durations[1] does not have 2 entries: ask OSRM for all"},
                 {"[12, 0]", "12", "o: durations[1] does not have 2 entries"},
                 {"[0, 1]", "[0, -1]", "o: distances[0][1] is not a number from 0"},
                 {"[0, 1]", "[0, \"far\"]", "o: distances[0][1] is not a number from 0"},
                 {"[0, 10]", "[0, 1e10]", "o: durations[0][1] is not a number from 0"},
                 {"[0, 10]", "[0, 1e400]", "o: a number is too large"},
                 {"[[0, 1], [2, 0]]", "[[0, 1]]", "o: distances does not have 2 rows"},
                 {"}", "", "o:1: not JSON at byte"},
             },
             [](const std::string& text) { parse_osrm_table(text, "o"); });
  CHECK(complaint_of([] { parse_osrm_table("[1]", "o"); }).find("no durations") !=
        std::string::npos);
}

TEST_CASE("solutions: routes, costs, and stops that are numbers") {
  const std::string solution = "Route #1: 5 3\nRoute #2: 7\nCost : 10.5\n";
  check_each(solution,
             {
                 {"Route #1: 5 3", "Route #1 5 3", "s:1: a route is written 'Route 1 : 5 3 7'"},
                 {": 7\n", ": 7.5\n", "s:2: stops are whole numbers from 1 to 5000"},
                 {": 7\n", ": 0\n", "s:2: stops are whole numbers from 1 to 5000"},
                 {": 7\n", ": 5001\n", "s:2: stops are whole numbers from 1 to 5000"},
                 {": 7\n", ": x\n", "s:2: stops are whole numbers from 1 to 5000"},
                 {"10.5", "cheap", "s:3: the cost is written 'Cost 827.3'"},
             },
             [](const std::string& text) { parse_solution(text, "s"); });
  const Solution parsed = parse_solution(solution, "s");
  CHECK(parsed.cost == 10.5);
  CHECK(parse_solution("Route 1:\nRoute 2: 4\n", "s").routes.front().empty());
  CHECK_FALSE(parse_solution("Route 1: 1\n", "s").cost);
}

TEST_CASE("any cut of any file is read or refused, and never more") {
  const auto cut_everywhere = [](const std::string& text, const auto& parse) {
    int refused = 0;
    for (std::size_t length = 0; length < text.size(); ++length) {
      refused += complaint_of([&] { parse(text.substr(0, length)); }) == "none" ? 0 : 1;
    }
    return refused;
  };
  // The last line break may be missing, and with it digits of the last number.
  CHECK(cut_everywhere(kPairs, [](const std::string& text) {
          parse_lilim(text, "p", Convention::sintef);
        }) >= static_cast<int>(kPairs.size()) - 4);
  CHECK(cut_everywhere(kDialARide, [](const std::string& text) {
          parse_cordeau(text, "d", Convention::sintef);
        }) >= static_cast<int>(kDialARide.size()) - 6);
  CHECK(cut_everywhere(kMatrixFile, [](const std::string& text) {
          parse_vrplib(text, "v", Convention::ortec);
        }) >= static_cast<int>(kMatrixFile.size()) - 8);
}

TEST_CASE("errors quote what is long or not printable with care") {
  const std::string long_word(200, 'z');
  const std::string told =
      complaint_of([&] { parse_lilim(long_word + " 20 1\n", "p", Convention::dimacs); });
  CHECK(told.size() < 150);
  CHECK(told.find("zzz...'") != std::string::npos);
  CHECK(complaint_of([] {
          parse_lilim("\x1b[31m 20 1\n", "p", Convention::dimacs);
        }).find('\x1b') == std::string::npos);
}

TEST_CASE("a file that cannot be read is the disk's fault") {
  CHECK_THROWS_AS(read_text("/nowhere/instance.txt"), IoError);
  CHECK_THROWS_AS(read_text(std::filesystem::temp_directory_path().string()), IoError);
}

}  // namespace penstock::booking::malformed_test
