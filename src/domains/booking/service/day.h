#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "domains/booking/service/call.h"
#include "domains/booking/service/fleet.h"
#include "penstock/domains/booking/dispatch/schedule.h"
#include "penstock/domains/booking/selling/plan_view.h"
#include "penstock/domains/booking/service/store.h"

namespace penstock::booking::service {

/// What became of a call: the answer, and what the store must have before it is sent.
struct Outcome {
  int status = 200;
  Json answer;
  bool changed = false;  // the plan: it has the next version
  std::vector<StoredBooking> put{};
  std::optional<StoredChoice> choice{};
  std::optional<dispatch::Money> price{};  // at which a new stop was taken in
};

/// What a window would cost, and the same in words.
struct Priced {
  Json told;
  bool feasible = false;
  double cost = 0;     // in units
  double revenue = 0;  // of the request, in units
};

/// What all windows would cost.
struct Quoted {
  std::vector<Priced> slots;
  selling::PlanView view;  // for a network, where the fleet has a forecast
};

/// The bookings of one depot on one day, and the routes that keep them. Holds end when the time
/// that calls bring with them has come. One thread at a time.
class Day {
 public:
  /// Nothing is booked yet.
  Day(std::string id, const Fleet& fleet);
  /// As it was written. Throws DataError when the fleet cannot keep what was promised, which the
  /// dispatch checker judges.
  Day(const StoredPlan& stored, const Fleet& fleet);

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] std::int64_t version() const { return version_; }
  [[nodiscard]] std::size_t num_bookings() const { return bookings_.size(); }
  [[nodiscard]] const dispatch::Schedule& schedule() const { return schedule_; }

  /// What the windows would cost. Changes nothing but that holds end.
  Quoted quote(const Wish& wish, std::span<const TimeWindow> windows, std::int64_t now_ms);
  /// Does what a call asks for, or tells why not.
  Outcome apply(const ChangeCall& call, std::int64_t now_ms);
  /// Bookings, routes, timetable.
  Json show(std::int64_t now_ms);

  /// What is to be written with the outcome of a call.
  [[nodiscard]] Change change_for(const Outcome& outcome, std::int64_t now_ms) const;
  /// It was written: what was removed is gone for good.
  void written() { removed_.clear(); }

  /// Grows with whatever happens to the routes.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  /// For a day that was read again: copies of what it was before are over.
  void begin_generation(std::uint64_t generation) { generation_ = generation; }
  /// The improved copy of a generation takes the place of the routes; false when that is over.
  bool take_improved(dispatch::Schedule better, std::uint64_t generation);

 private:
  struct Booking {
    std::string text;  // JSON of the wish, as it is stored
    TimeWindow window;
    std::int64_t expires_ms = 0;  // 0: booked
    std::optional<Showing> showing{};
  };

  void expire(std::int64_t now_ms);
  bool remove(const std::string& id);
  [[nodiscard]] bool under_way(const std::string& id) const;
  [[nodiscard]] Outcome refuse(int status, std::string why) const;
  Outcome judge(const ChangeCall& call, std::int64_t now_ms);
  Outcome hold(const ChangeCall& call, std::int64_t now_ms);
  Outcome commit(const ChangeCall& call, std::int64_t now_ms);
  Outcome cancel(const ChangeCall& call);
  Outcome decline(const ChangeCall& call, std::int64_t now_ms);
  Outcome move(const ChangeCall& call);
  Outcome progress(const ChangeCall& call);
  Outcome place(const ChangeCall& call, std::int64_t expires_ms);
  Outcome end(const std::string& id, const char* state);
  Outcome changed(const std::string& id, Json more) const;
  [[nodiscard]] std::string date() const { return id_.substr(id_.rfind('.') + 1); }
  [[nodiscard]] std::int32_t place_in(const Showing& showing, const TimeWindow& window) const;
  [[nodiscard]] std::optional<StoredChoice> choice_of(const std::optional<Showing>& showing,
                                                      std::int32_t taken, const std::string& wish,
                                                      std::int64_t now_ms) const;
  [[nodiscard]] Json tell_booking(const std::string& id) const;
  [[nodiscard]] Json tell_share(const std::string& id) const;
  [[nodiscard]] const dispatch::Route& route_of(const std::string& id) const;

  [[nodiscard]] StoredBooking stored(const std::string& id) const;
  [[nodiscard]] std::string routes_text() const;
  void load(const StoredPlan& stored);

  std::string id_;
  std::int64_t version_ = 0;
  const Fleet* fleet_;
  dispatch::Schedule schedule_;
  std::map<std::string, Booking> bookings_;
  std::vector<std::string> removed_;  // bookings that the store may still have
  std::uint64_t generation_ = 0;
};

}  // namespace penstock::booking::service
