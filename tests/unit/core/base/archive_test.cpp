#include "penstock/core/base/archive.h"

#include <doctest/doctest.h>

#include <array>

namespace {

enum class Gear : std::int8_t { reverse = -1, neutral = 0, drive = 1 };

struct Wheel {
  float pressure = 0;
  template <class Archive>
  void state(Archive& archive) {
    archive(pressure);
  }
};

struct Car {
  std::int64_t position = 0;
  bool braking = false;
  Gear gear = Gear::neutral;
  std::array<double, 2> velocity{};
  std::vector<std::uint16_t> cargo;
  std::vector<Wheel> wheels;
  template <class Archive>
  void state(Archive& archive) {
    archive(position, braking, gear, velocity, cargo, wheels);
  }
};

Car example() { return {-5, true, Gear::reverse, {1.5, -0.25}, {1, 2, 65535}, {{2.5F}, {2.25F}}}; }

std::vector<std::byte> saved(Car car) {
  std::vector<std::byte> bytes;
  penstock::StateWriter writer(bytes);
  writer(car);
  return bytes;
}

void load(std::span<const std::byte> bytes, Car& car) {
  penstock::StateReader reader(bytes);
  reader(car);
}

}  // namespace

TEST_CASE("what is written reads back equal and uses every byte") {
  const auto bytes = saved(example());
  Car car;
  penstock::StateReader reader(bytes);
  reader(car);
  CHECK(reader.empty());
  CHECK(car.position == -5);
  CHECK(car.braking);
  CHECK(car.gear == Gear::reverse);
  CHECK(car.velocity == std::array{1.5, -0.25});
  CHECK(car.cargo == std::vector<std::uint16_t>{1, 2, 65535});
  REQUIRE(car.wheels.size() == 2);
  CHECK(car.wheels[1].pressure == 2.25F);
  CHECK(saved(car) == bytes);
}

TEST_CASE("bytes that end too early are refused at every length") {
  const auto bytes = saved(example());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    Car car;
    CHECK_THROWS_AS(load(std::span(bytes).first(size), car), penstock::DataError);
  }
}

TEST_CASE("a hostile list length is refused before memory is asked for") {
  std::vector<std::byte> bytes(8, std::byte{0xff});  // 2^64 - 1 elements
  std::vector<double> values;
  penstock::StateReader reader(bytes);
  CHECK_THROWS_AS(reader(values), penstock::DataError);
  CHECK(values.empty());
}

TEST_CASE("a byte that is not a truth value reads as true, not as undefined behaviour") {
  const std::vector<std::byte> bytes(1, std::byte{0x42});
  bool flag = false;
  penstock::StateReader reader(bytes);
  reader(flag);
  CHECK(flag);
}

TEST_CASE("strings, queues, maps and arrays of lists come back") {
  const std::string name = "harbour \n 7";
  const std::deque<double> queue = {1.5, -2};
  const std::map<std::string, std::vector<int>> stock = {{"a", {1, 2}}, {"b", {}}};
  const std::array<std::vector<int>, 2> lists = {std::vector<int>{4}, {}};
  std::vector<std::byte> bytes;
  penstock::StateWriter writer(bytes);
  writer(name, queue, stock, lists);
  std::string name_back = "old";
  std::deque<double> queue_back = {9};
  std::map<std::string, std::vector<int>> stock_back = {{"z", {3}}};
  std::array<std::vector<int>, 2> lists_back;
  penstock::StateReader reader(bytes);
  reader(name_back, queue_back, stock_back, lists_back);
  CHECK(reader.empty());
  CHECK(name_back == name);
  CHECK(queue_back == queue);
  CHECK(stock_back == stock);
  CHECK(lists_back == lists);
}
