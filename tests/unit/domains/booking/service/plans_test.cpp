#include "domains/booking/service/plans.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "penstock/core/base/errors.h"

namespace plans_test {

using namespace penstock;
namespace dispatch = penstock::booking::dispatch;
using namespace penstock::booking::service;

namespace {

/// A depot of one van for two parcels, and a store, gone when the test is over.
class Depot {
 public:
  explicit Depot(const std::string& name)
      : folder_(std::filesystem::temp_directory_path() / ("penstock_plans_" + name)) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::ofstream(fleet()) << R"({"vehicles": [{"id": "van", "start": [13.4, 52.5],
      "end": [13.4, 52.5], "capacity": [2], "time_window": ["08:00", "18:00"]}]})";
  }
  ~Depot() { std::filesystem::remove_all(folder_); }
  Depot(const Depot&) = delete;
  Depot& operator=(const Depot&) = delete;
  void use_fleet(const std::string& json) const { std::ofstream(fleet()) << json; }
  [[nodiscard]] std::string fleet() const { return (folder_ / "north.json").string(); }
  [[nodiscard]] std::string store() const { return (folder_ / "days.db").string(); }

 private:
  std::filesystem::path folder_;
};

ChangeCall commit(const std::string& id) {
  return read_change("commit", R"({"job": {"id": ")" + id +
                                   R"(", "location": [13.42, 52.51], "delivery": [1]},
    "slot": {"window": ["09:00", "10:00"]}})");
}

/// As the service does it.
Outcome apply_and_write(Store& store, Plan& plan, const ChangeCall& call) {
  Outcome outcome = plan.day.apply(call, 1000);
  CHECK(store.write(plan.day.change_for(outcome, 1000)));
  plan.day.written();
  return outcome;
}

constexpr const char* kDay = "north.2026-12-01";

}  // namespace

TEST_CASE("a plan that is read again is the same, and a search of before does not reach it") {
  const Depot depot("again");
  Store store(depot.store());
  Plans plans({depot.fleet()}, store);
  Plan& plan = plans.open(kDay);
  plans.refresh(plan);
  CHECK(apply_and_write(store, plan, commit("a")).status == 200);
  const std::uint64_t generation = plan.day.generation();
  dispatch::Schedule copy = plan.day.schedule();

  plan.stale = true;
  plans.refresh(plan);
  CHECK(plan.day.version() == 1);
  CHECK(plan.day.num_bookings() == 1);
  CHECK_FALSE(plan.day.take_improved(copy, generation));
  CHECK_FALSE(plan.day.take_improved(copy, 0));
  CHECK(plan.day.take_improved(plan.day.schedule(), plan.day.generation()));
}

TEST_CASE("a search whose plan has changed meanwhile is thrown away") {
  const Depot depot("meanwhile");
  Store store(depot.store());
  Plans plans({depot.fleet()}, store);
  Plan& plan = plans.open(kDay);
  plans.refresh(plan);
  apply_and_write(store, plan, commit("a"));
  const std::uint64_t generation = plan.day.generation();
  dispatch::Schedule copy = plan.day.schedule();
  CHECK(apply_and_write(store, plan, commit("b")).status == 200);
  CHECK(apply_and_write(store, plan, commit("c")).status == 409);
  CHECK_FALSE(plan.day.take_improved(copy, generation));
  CHECK(plan.day.schedule().find("b"));
}

TEST_CASE("names of plans are a depot and a day") {
  const Depot depot("names");
  Store store(depot.store());
  Plans plans({depot.fleet()}, store);
  for (const char* name : {"south.2026-12-01", "north", "north.2026-02-29", "north.2026-1-1", ""}) {
    CAPTURE(name);
    CHECK_THROWS_AS(plans.open(name), NoSuchPlan);
  }
  CHECK(&plans.open("north.2028-02-29") == &plans.open("north.2028-02-29"));
  CHECK(plans.size() == 1);
  CHECK_THROWS_AS(Plans({depot.fleet(), depot.fleet()}, store), UsageError);
}

TEST_CASE(
    "a cancel that would make a vehicle late for others is refused, and the plan loads again") {
  const Depot depot("needed");
  depot.use_fleet(R"({"vehicles": [{"id": "van", "start_index": 0, "time_window": [0, 5000]}],
    "matrices": {"car": {"durations": [[0, 100, 900], [100, 0, 100], [900, 100, 0]]}}})");
  Store store(depot.store());
  Plans plans({depot.fleet()}, store);
  Plan& plan = plans.open(kDay);
  plans.refresh(plan);
  const auto book = [&](const char* id, int place, const char* window) {
    return apply_and_write(
               store, plan,
               read_change("commit", fmt::format(R"({{"job": {{"id": "{}", "location_index": {}}},
                                            "slot": {{"window": {}}}}})",
                                                 id, place, window)))
        .status;
  };
  CHECK(book("via", 1, "[0, 150]") == 200);
  CHECK(book("kept", 2, "[200, 250]") == 200);
  const Outcome refused = apply_and_write(store, plan, read_change("cancel", R"({"id": "via"})"));
  CHECK(refused.status == 409);
  CHECK_FALSE(refused.changed);
  plan.stale = true;
  plans.refresh(plan);
  CHECK(plan.day.num_bookings() == 2);
  CHECK(apply_and_write(store, plan, read_change("cancel", R"({"id": "kept"})")).status == 200);
  CHECK(apply_and_write(store, plan, read_change("cancel", R"({"id": "via"})")).status == 200);
}

}  // namespace plans_test
