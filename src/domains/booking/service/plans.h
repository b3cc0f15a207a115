#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "domains/booking/service/day.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/service/store.h"

namespace penstock::booking::service {

/// A plan in memory. Whoever uses the day holds the mutex, and refreshes it first.
struct Plan {
  Plan(std::string id, const Fleet& of) : fleet(of), day(std::move(id), of) {}

  const Fleet& fleet;
  std::mutex mutex;
  Day day;
  bool stale = true;  // what is in memory need not be what is in the store

  /// A change was made: of a stop taken in while nothing was left to improve, what it was priced
  /// at.
  void watch_price(std::optional<dispatch::Money> price) {
    watched.reset();
    if (price && settled) {
      watched = {.price = *price, .cost = day.schedule().cost(), .bookings = day.num_bookings()};
    }
    settled = false;
  }

  struct Watched {
    dispatch::Money price = 0;
    dispatch::Money cost = 0;  // of all routes, with it
    std::size_t bookings = 0;
  };
  std::optional<Watched> watched;
  bool settled = true;  // the search after the last change is over
};

/// A name that no plan has.
class NoSuchPlan : public Error {
 public:
  explicit NoSuchPlan(const std::string& why) : Error(Exit::bad_data, why) {}
};

/// The plans there are, by name. Thread-safe.
class Plans {
 public:
  /// Throws DataError when a file is not a fleet, or with `forecast` tells none.
  Plans(const std::vector<std::string>& fleets, Store& store, bool forecast = false);

  /// The plan of this name, made if it is the first call for it; it stays where it is. Throws
  /// NoSuchPlan.
  Plan& open(const std::string& id);
  /// Brings what is in memory up to the store. The plan must be locked.
  void refresh(Plan& plan);
  /// Reads those of a day and later, and checks them.
  void load_since(const std::string& date);
  /// The names of all that were written, or asked for.
  std::vector<std::string> names();
  /// The names of the fleets, in order.
  [[nodiscard]] std::vector<std::string> depots() const;
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  const Fleet& fleet_of(const std::string& id) const;

  Store& store_;
  std::map<std::string, Fleet> fleets_;  // by depot
  std::shared_mutex mutex_;
  std::map<std::string, std::unique_ptr<Plan>> plans_;
  std::atomic<std::size_t> size_ = 0;
};

}  // namespace penstock::booking::service
