#include "penstock/domains/booking/routing/parsers.h"

#include <doctest/doctest.h>

#include "penstock/core/base/errors.h"

namespace penstock::booking::parsers_test {
namespace {

const std::string kSolomon =
    "TINY\n\nVEHICLE\nNUMBER CAPACITY\n 2 10\n\nCUSTOMER\nCUST NO. X Y DEMAND READY DUE SERVICE\n\n"
    "0 0 0 0 0 100 0\n1 1 1 4 5 50 2\n2 3 4 6 0 60.5 1\n";

const std::string kLilim =
    "3 20 1\n0 0 0 0 0 100 0 0 0\n1 3 4 -5 0 90 1 3 0\n2 0 6 7 0 80 1 0 4\n3 1 0 5 0 70 1 0 1\n"
    "4 2 0 -7 0 60 1 2 0\n";

const std::string kOrtec =
    "NAME : o\nCOMMENT : x\nTYPE : VRPTW\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EXPLICIT\n"
    "VEHICLES : 1\nEDGE_WEIGHT_FORMAT : FULL_MATRIX\nCAPACITY : 9\nEDGE_WEIGHT_SECTION\n0 1 2\n"
    "3 0 4\n5 6 0\nDEMAND_SECTION\n1 0\n2 3\n3 4\nDEPOT_SECTION\n1\n-1\nSERVICE_TIME_SECTION\n"
    "1 0\n2 60\n3 70\nTIME_WINDOW_SECTION\n1 0 900\n2 10 20\n3 30 40\nEOF\n";

const std::string kEuclid =
    "NAME : e\nTYPE : VRPTW\nDIMENSION : 2\nVEHICLES : 3\nCAPACITY : 5\nSERVICE_TIME : 9\n"
    "EDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 1 1\nDEMAND_SECTION\n1 0\n2 3\n"
    "TIME_WINDOW_SECTION\n1 0 90\n2 1 20\nDEPOT_SECTION\n1\n-1\nEOF\n";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  return text.replace(text.find(what), what.size(), with);
}

TEST_CASE("Solomon's format, and what the conventions make of it") {
  const Instance tenths = parse_solomon(kSolomon, "t", Convention::dimacs).instance;
  CHECK(tenths.name == "TINY");
  CHECK(tenths.mode == Mode::deliver);
  CHECK(tenths.vehicles == 2);
  CHECK(tenths.capacity == 10);
  CHECK(tenths.num_requests() == 2);
  CHECK(tenths.distance_of(0, 1) == 14);  // 1.414
  CHECK(tenths.distance_of(0, 2) == 50);
  CHECK(tenths.nodes[2].window == Window{0, 605});
  CHECK(tenths.nodes[1].service == 20);
  CHECK(tenths.nodes[1].load == 4);
  const Instance exact = parse_solomon(kSolomon, "t", Convention::sintef).instance;
  CHECK(exact.distance_of(1, 2) == 36056);  // 3.60555
  CHECK(exact.duration_of(1, 2) == 36055);
  CHECK(exact.nodes[2].window.latest == 605000);
  CHECK_THROWS_AS(parse_solomon(kSolomon, "t", Convention::ortec), DataError);
}

TEST_CASE("Li and Lim's pairs stand side by side, and solutions find them") {
  const ParsedInstance parsed = parse_lilim(kLilim, "t", Convention::dimacs);
  const Instance& instance = parsed.instance;
  CHECK(instance.mode == Mode::ride);
  CHECK(instance.num_requests() == 2);
  CHECK(parsed.node_of == std::vector<std::int32_t>{0, 4, 1, 3, 2});
  CHECK(instance.nodes[1].load == 7);
  CHECK(instance.nodes[2].load == -7);
  CHECK(instance.nodes[4].window.latest == 900);
  const Plan plan = plan_of(parse_solution("Route 1 : 2 4\nRoute #2: 3 1 \n", "s"), parsed, "s");
  CHECK(plan.routes == std::vector<std::vector<std::int32_t>>{{1, 2}, {3, 4}});
  CHECK_THROWS_WITH_AS(plan_of(parse_solution("Route 1: 9", "s"), parsed, "s"),
                       "s: stop 9 is not in t, which has 4: is it a solution of another instance?",
                       DataError);
  CHECK_THROWS_AS(parse_lilim(replaced(kLilim, "70 1 0 1", "70 1 0 2"), "t", Convention::dimacs),
                  DataError);
}

TEST_CASE("Cordeau's dial-a-ride, with and without the depot's second line") {
  const std::string text =
      "2 4 480 3 30\n0 0 0 0 0 0 1440\n1 0 1 3 1 0 1440\n2 0 2 3 2 10 20\n3 1 0 3 -1 0 1440\n"
      "4 2 0 3 -2 0 1440\n";
  const Instance instance = parse_cordeau(text, "t", Convention::sintef).instance;
  CHECK(instance.num_requests() == 2);
  CHECK(instance.max_ride == 300000);
  CHECK(instance.nodes[3].window == Window{100000, 200000});
  CHECK(instance.nodes[4].load == -2);
  const auto twice = parse_cordeau(text + "5 0 0 0 0 0 1440\n", "t", Convention::sintef);
  CHECK(twice.instance.num_nodes() == 5);
  CHECK_THROWS_AS(parse_cordeau(text + "5 0 0 0 0 0 1\n6 0 0 0 0 0 1\n", "t", Convention::sintef),
                  DataError);
}

TEST_CASE("VRPLIB, with a matrix that is not symmetric or with coordinates") {
  const Instance ortec = parse_vrplib(kOrtec, "t", Convention::ortec).instance;
  CHECK(ortec.distance_of(0, 1) == 1);
  CHECK(ortec.distance_of(1, 0) == 3);
  CHECK(ortec.duration == ortec.distance);
  CHECK(ortec.vehicles == 2);
  CHECK(ortec.nodes[2].service == 70);
  CHECK(ortec.nodes[2].window == Window{30, 40});
  const Instance euclid = parse_vrplib(kEuclid, "t", Convention::dimacs).instance;
  CHECK(euclid.vehicles == 3);
  CHECK(euclid.distance_of(0, 1) == 14);
  CHECK(euclid.nodes[0].service == 0);
  CHECK(euclid.nodes[1].service == 90);
  CHECK_THROWS_AS(parse_vrplib(kOrtec, "t", Convention::dimacs), DataError);
  CHECK_THROWS_AS(parse_vrplib(kEuclid, "t", Convention::ortec), DataError);
}

TEST_CASE("OSRM's table") {
  const OsrmTable table = parse_osrm_table(
      R"({"code": "Ok", "durations": [[0, 10.4], [12.6, 0]], "distances": [[0, 100], [120.5, 0]]})",
      "t");
  CHECK(table.places == 2);
  CHECK(table.durations == std::vector<Seconds>{0, 10, 13, 0});
  CHECK(table.distances == std::vector<Metres>{0, 100, 121, 0});
  CHECK_THROWS_WITH_AS(parse_osrm_table("{\"durations\": [[0, null], [1, 0]]}", "t"),
                       doctest::Contains("durations[0][1]"), DataError);
  CHECK_THROWS_WITH_AS(parse_osrm_table("{\n\"durations\": [}", "t"), doctest::Contains("t:2:"),
                       DataError);
}

TEST_CASE("a list of requests, its columns in any order") {
  const RequestList list = parse_requests_csv(
      "earliest,latest,x,y,to_y,to_x,load\ndepot,5,6\n08:00,08:30,1,2,4,3,2\n30000,30600,1,2,4,3,"
      "1\n",
      "t");
  CHECK(list.depot->y == 6);
  REQUIRE(list.rows.size() == 2);
  CHECK(list.rows[0].window == Window{28800, 30600});
  CHECK(list.rows[0].to->x == 3);
  CHECK(list.rows[0].load == 2);
  CHECK_THROWS_WITH_AS(parse_requests_csv("lon,lat,earliest,latest\n5,91,0,0\n", "t"),
                       doctest::Contains("metres go into x and y"), DataError);
  CHECK_THROWS_WITH_AS(parse_requests_csv("lon,y,earliest,latest\n", "t"),
                       doctest::Contains("lon, lat"), DataError);
  CHECK_THROWS_WITH_AS(parse_requests_csv("x,y,earliest\n", "t"), doctest::Contains("latest"),
                       DataError);
  CHECK_THROWS_WITH_AS(parse_requests_csv("x,y,earliest,latest\n1,2,3\n", "t"),
                       "t:2: the line ends before its column latest", DataError);
}

TEST_CASE("what is malformed is told with its line") {
  const auto solomon = [](const std::string& what, const std::string& with) {
    parse_solomon(replaced(kSolomon, what, with), "file.txt", Convention::dimacs);
  };
  CHECK_THROWS_WITH_AS(solomon("1 1 1 4", "1 1 one 4"),
                       "file.txt:11: y is 'one', not a number of at most 1e9", DataError);
  CHECK_THROWS_WITH_AS(solomon("2 3 4 6", "7 3 4 6"),
                       "file.txt:12: customer 7 where 2 should be: number them 0, 1, 2", DataError);
  CHECK_THROWS_AS(solomon("4 5 50 2", "4 60 50 2"), DataError);
  CHECK_THROWS_AS(solomon("VEHICLE", "CARS"), DataError);
  CHECK_THROWS_AS(solomon("0 0 0 0 0 100 0", "0 0 0 0 0 nan 0"), DataError);
  for (std::size_t length = 0; length < kSolomon.size(); length += 7) {
    try {
      parse_solomon(kSolomon.substr(0, length), "t", Convention::dimacs);
    } catch (const DataError&) { continue; }
  }
}

TEST_CASE("a header may claim what it likes: memory follows the text") {
  CHECK_THROWS_AS(parse_vrplib(replaced(kOrtec, "DIMENSION : 3", "DIMENSION : 2000000000"), "t",
                               Convention::ortec),
                  DataError);
  CHECK_THROWS_WITH_AS(
      parse_vrplib(replaced(kOrtec, "DIMENSION : 3", "DIMENSION : 5000"), "t", Convention::ortec),
      "t:9: the file is too short for 25000000 weights", DataError);
}

TEST_CASE("solutions") {
  const Solution solution = parse_solution("# x\nRoute #1: 5 3\nRoute #2: 7\nCost 827.3\n", "t");
  CHECK(solution.routes == std::vector<std::vector<std::int32_t>>{{5, 3}, {7}});
  CHECK(solution.cost == 827.3);
  CHECK_THROWS_AS(parse_solution("nothing", "t"), DataError);
  CHECK_THROWS_AS(parse_solution("Route 1: -4", "t"), DataError);
}

}  // namespace
}  // namespace penstock::booking::parsers_test
