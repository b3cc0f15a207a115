#include "penstock/domains/booking/service/store.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "penstock/core/base/errors.h"

namespace store_test {

using namespace penstock;
using namespace penstock::booking::service;

namespace {

/// A file that is gone when the test is over.
class Scratch {
 public:
  explicit Scratch(const std::string& name)
      : folder_(std::filesystem::temp_directory_path() / ("penstock_store_" + name)) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] std::string file() const { return (folder_ / "days.db").string(); }

 private:
  std::filesystem::path folder_;
};

Change first_change() {
  return {.plan = "p",
          .before = 0,
          .after = 1,
          .routes = "{}",
          .put = {{"a", 5, "hold"}, {"b", 0, "it's \"quoted\""}},
          .answer = StoredAnswer{.key = "k", .call = "hold", .status = 200, .body = "told"},
          .now_ms = 10};
}

}  // namespace

TEST_CASE("what was written is there after the store was closed") {
  const Scratch scratch("kept");
  { CHECK(Store(scratch.file()).write(first_change())); }
  Store store(scratch.file());
  CHECK_FALSE(store.shared());
  CHECK(store.plans() == std::vector<std::string>{"p"});
  const auto plan = store.load("p");
  REQUIRE(plan);
  CHECK(plan->version == 1);
  CHECK(plan->routes == "{}");
  REQUIRE(plan->bookings.size() == 2);
  CHECK(plan->bookings[0].expires_ms == 5);
  CHECK(plan->bookings[1].text == "it's \"quoted\"");
  const auto answer = store.answer("p", "k");
  REQUIRE(answer);
  CHECK(answer->body == "told");
  CHECK(answer->call == "hold");
  CHECK_FALSE(store.answer("p", "other"));
  CHECK_FALSE(store.answer("q", "k"));
  CHECK_FALSE(store.load("q"));
  CHECK(store.version("q") == 0);
}

TEST_CASE("a change for another version is not written, no part of it") {
  const Scratch scratch("version");
  Store store(scratch.file());
  CHECK(store.write(first_change()));
  Change second{.plan = "p", .before = 1, .after = 2, .removed = {"a"}};
  CHECK(store.write(second));
  CHECK(store.load("p")->bookings.size() == 1);
  CHECK(store.load("p")->routes == "{}");  // as they were
  second.removed = {"b"};
  CHECK_FALSE(store.write(second));
  CHECK_FALSE(store.write(first_change()));
  CHECK(store.version("p") == 2);
  CHECK(store.load("p")->bookings.size() == 1);
}

TEST_CASE("a key is answered once, also where the plan does not change") {
  const Scratch scratch("key");
  Store store(scratch.file());
  Change refusal{.plan = "p",
                 .routes = "{}",
                 .answer = StoredAnswer{.key = "k", .call = "hold", .status = 409, .body = "no"}};
  CHECK(store.write(refusal));
  CHECK(store.version("p") == 0);
  CHECK_FALSE(store.write(refusal));
  refusal.answer->key = "l";
  CHECK(store.write(refusal));
  CHECK(store.write(Change{.plan = "p", .before = 0, .after = 1, .routes = "{}"}));
  store.forget_answers(1);
  CHECK_FALSE(store.answer("p", "k"));
}

TEST_CASE("one process serves a file; a file of another kind is refused") {
  const Scratch scratch("lock");
  Store store(scratch.file());
  CHECK_THROWS_WITH_AS(Store(scratch.file()), doctest::Contains("another process serves it"),
                       IoError);
  const std::string other = scratch.file() + ".txt";
  std::ofstream(other) << std::string(5000, 'x');
  CHECK_THROWS_AS(Store{other}, IoError);
  CHECK_THROWS_WITH_AS(Store("/nowhere/days.db"), doctest::Contains("/nowhere/days.db"), IoError);
}

}  // namespace store_test
