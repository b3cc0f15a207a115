#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/domains/booking/dispatch/problem.h"

namespace penstock {
class Random;
}

namespace penstock::booking::dispatch {

/// A stop in a route, with what a search must know of it to judge an insertion beside it in
/// constant time.
struct Visit {
  std::int32_t stop = -1;  // 2 * task + (0: job or pickup, 1: delivery); -1: the route's ends
  std::int32_t place = -1;
  Money in_cost = 0;             // of the leg from the visit before
  Time leave = 0;                // as early as may be
  Time latest = 0;               // start of work that keeps all that follow in time
  Time latest_leave = 0;         // likewise
  Time start = 0;                // of work, as early as may be
  std::int32_t work = 0;         // seconds of setup and service, after the visit before
  std::int32_t first_break = 0;  // how many breaks are taken before leaving
  Leg in;                        // from the visit before
  std::int32_t from = -2;        // the place before, to which `in` belongs
  bool plain = true;             // the work does not depend on the place before
};

/// Where a task goes in a route. Visits are counted as before the insertion, 0 is the start.
struct Placement {
  std::int32_t vehicle = -1;      // -1: nowhere
  std::int32_t after = 0;         // the visit before the job or the pickup
  std::int32_t breaks = 0;        // taken before it
  std::int32_t after_second = 0;  // the same of a shipment's delivery; it follows the pickup
  std::int32_t breaks_second = 0;
  Money added = 0;
  [[nodiscard]] bool fits() const { return vehicle >= 0; }
};

/// One vehicle's stops in order, with its two ends, which are visits too. Whoever changes the
/// order calls `rebuild`. A value; the problem is given with each call and must be the same.
struct Route {
  std::int32_t vehicle = 0;
  std::vector<Visit> visits;              // [stops + 2]
  std::vector<std::int32_t> break_after;  // [breaks of the vehicle], the visit before each
  std::vector<std::int64_t> load;         // [visits - 1, amounts], on the leg from each
  std::vector<std::int64_t> room_before;  // the least room on the legs up to this one
  std::vector<std::int64_t> room_after;   // the least room from this one on
  std::int32_t frozen = 0;                // stops at the front that are under way
  Time not_before = -kForever;            // when the others may be driven to
  Money cost = 0;
  std::int64_t metres = 0;
  std::int64_t seconds = 0;    // of driving
  bool limited_rides = false;  // a shipment on board has a longest ride
  bool feasible = true;

  [[nodiscard]] std::int32_t num_stops() const {
    return static_cast<std::int32_t>(visits.size()) - 2;
  }
  [[nodiscard]] std::size_t num_gaps() const { return visits.size() - 1; }
};

/// A route without stops.
Route empty_route(const Problem& problem, std::int32_t vehicle);
/// Brings times, loads and costs up to date, in time proportional to the stops.
void rebuild(const Problem& problem, Route& route);
/// Times, loads and longest rides.
bool keeps_promises(const Problem& problem, const Route& route);
/// Puts a task where a search found that it fits, or takes it out.
void insert(const Problem& problem, Route& route, std::int32_t task, const Placement& where);
void erase(const Problem& problem, Route& route, std::int32_t task);
/// Puts each break where it leaves the most room, or where `random` draws, as far as all rules are
/// kept. The route must keep them before.
void move_breaks(const Problem& problem, Route& route, Random* random = nullptr);

/// When the vehicle arrives that leaves at `leave` for a drive of `seconds`, and on the way takes
/// the breaks from `first` up to `last`; kForever: too late for one of them.
Time arrival(const Vehicle& vehicle, Time leave, Time seconds, std::int32_t first,
             std::int32_t last);
/// When it must leave to arrive in time.
Time leave_by(const Vehicle& vehicle, Time arrive_by, Time seconds, std::int32_t first,
              std::int32_t last);

/// The earliest starts of all visits that keep every longest ride too; false when there are none.
/// `starts` has one entry for each visit; what is in it are the least starts that are allowed.
bool settle_rides(const Problem& problem, const Route& route, std::span<Time> starts);

/// What happens when.
struct Timetable {
  struct Row {
    std::int32_t visit = 0;   // of the route; ends too
    std::int32_t pause = -1;  // a break of the vehicle; -1: the visit
    Time arrival = 0;         // of a break: when it begins
    Time start = 0;           // of work
    Time end = 0;
    std::int64_t driven_seconds = 0;  // since the start
    std::int64_t driven_metres = 0;   // since the start, up to the visit
  };
  std::vector<Row> rows;  // from the start to the end
};
/// The vehicle leaves as late as it may without being back later, and who is on board waits as
/// little as may be.
Timetable timetable(const Problem& problem, const Route& route);

}  // namespace penstock::booking::dispatch
