#include "domains/booking/slots/linear_program.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace penstock::booking {
namespace {

/// As in tests/oracle/slots/linear_programs.py.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  std::int64_t below(std::uint64_t n) {
    state_ = (state_ * 1103515245 + 12345) % (std::uint64_t{1} << 31);
    return static_cast<std::int64_t>((state_ >> 16) % n);
  }

 private:
  std::uint64_t state_;
};

/// Small whole numbers, a third of them 0: many ties. The last row bounds all.
struct Case {
  std::vector<double> rooms;
  std::vector<double> gains;
  std::vector<std::vector<double>> takes;  // [columns, rows]
};

Case case_of(std::uint64_t seed) {
  Numbers numbers(seed);
  const std::size_t rows = 3 + 3 * seed;
  const std::size_t columns = 4 + 9 * seed;
  Case made;
  for (std::size_t i = 0; i + 1 < rows; ++i) { made.rooms.push_back(numbers.below(20)); }
  made.rooms.push_back(100);
  for (std::size_t j = 0; j < columns; ++j) {
    made.gains.push_back(numbers.below(30) - 5);
    std::vector<double> takes;
    for (std::size_t i = 0; i + 1 < rows; ++i) {
      const std::int64_t amount = std::max<std::int64_t>(0, numbers.below(9) - 3);
      takes.push_back(amount - (numbers.below(8) == 0 ? 1 : 0));
    }
    takes.push_back(1);
    made.takes.push_back(takes);
  }
  return made;
}

struct Golden {
  std::uint64_t seed;
  double value;
  double value_rolled;  // the last row's room first
};

/// By scipy's HiGHS.
constexpr std::array<Golden, 8> kGolden = {{
    {1, 133.763473054, 175.000000000},
    {2, 164.694852941, 115.000000000},
    {3, 84.179067563, 92.201373980},
    {4, 36.000000000, 35.833333333},
    {5, 25.335135135, 22.104100946},
    {6, 127.036453120, 68.500000000},
    {7, 58.697036430, 69.831818325},
    {8, 86.742865553, 64.589928058},
}};

}  // namespace

TEST_CASE("linear programmes are worth what HiGHS says, and so are those with other rooms") {
  for (const Golden& golden : kGolden) {
    CAPTURE(golden.seed);
    const Case made = case_of(golden.seed);
    LinearProgram program;
    program.begin(made.rooms);
    const std::size_t half = made.gains.size() / 2;
    for (std::size_t j = 0; j < made.gains.size(); ++j) {
      if (j == half) { REQUIRE(program.maximise()); }  // goes on with the columns that come later
      program.add(made.gains[j], made.takes[j]);
    }
    REQUIRE(program.maximise());
    CHECK(program.value() == doctest::Approx(golden.value).epsilon(1e-9));
    std::vector<double> rolled = made.rooms;
    std::rotate(rolled.begin(), rolled.end() - 1, rolled.end());
    CHECK(program.value_with(rolled) == doctest::Approx(golden.value_rolled).epsilon(1e-9));
    CHECK(program.value() == doctest::Approx(golden.value).epsilon(1e-9));  // it came back
  }
}

TEST_CASE("amounts keep the rooms, and prices add up to the value") {
  for (const Golden& golden : kGolden) {
    CAPTURE(golden.seed);
    const Case made = case_of(golden.seed);
    LinearProgram program;
    program.begin(made.rooms);
    for (std::size_t j = 0; j < made.gains.size(); ++j) {
      program.add(made.gains[j], made.takes[j]);
    }
    REQUIRE(program.maximise());
    double priced = 0;
    for (std::size_t i = 0; i < made.rooms.size(); ++i) {
      double taken = 0;
      for (std::size_t j = 0; j < made.gains.size(); ++j) {
        taken += made.takes[j][i] * program.amount(j);
      }
      CHECK(taken <= made.rooms[i] + 1e-7);
      CHECK(program.price(i) >= -1e-9);
      priced += program.price(i) * made.rooms[i];
    }
    CHECK(priced == doctest::Approx(golden.value).epsilon(1e-9));
  }
}

TEST_CASE("a programme without a most says so") {
  LinearProgram program;
  program.begin(std::vector<double>{1, 0});
  program.add(1, std::vector<double>{-1, 0});
  CHECK_FALSE(program.maximise());
}

}  // namespace penstock::booking
