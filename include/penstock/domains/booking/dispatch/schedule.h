#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "penstock/domains/booking/dispatch/problem.h"
#include "penstock/domains/booking/dispatch/route.h"

namespace penstock::booking::dispatch {

/// A task that is not in a plan yet, with its places; `Stop::place` is set when it is taken in.
struct Request {
  Task task;
  std::array<Place, 2> places;
};

/// Why nothing fits.
enum class Obstacle : std::uint8_t {
  none,
  skills,    // no vehicle has them
  capacity,  // no vehicle has room
  shift,     // no vehicle has the time, whatever the window
  window,    // the window
};
/// "skills", "capacity", ...; static memory.
const char* name_of(Obstacle obstacle);

/// The cheapest place for a task in one of the windows that were asked about.
struct Quote {
  Placement where;                     // fits() is false when there is none
  Obstacle obstacle = Obstacle::none;  // then
  Money added = 0;
  std::int64_t added_metres = 0;
  std::int64_t added_seconds = 0;  // of driving
  Time start = 0;                  // of the stop that was asked about, as early as may be
};

struct SolveConfig;

/// A plan under work: who drives where and when, which may grow, shrink and improve. Copyable; a
/// copy shares nothing. Not thread-safe.
///
///     Schedule plan(problem);                      // no task is served yet
///     const auto quotes = plan.quote(request, windows);
///     if (quotes[2].where.fits()) { plan.insert(request, windows[2], quotes[2].where); }
///
/// Every plan keeps all rules: insertions are checked, and only what fits is inserted.
class Schedule {
 public:
  /// No task is in a route yet.
  explicit Schedule(Problem problem);
  Schedule(const Schedule& other);
  Schedule& operator=(const Schedule& other);
  Schedule(Schedule&& other) noexcept;
  Schedule& operator=(Schedule&& other) noexcept;
  ~Schedule();

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] std::span<const Route> routes() const { return routes_; }
  /// Tasks that no vehicle serves, by number.
  [[nodiscard]] std::vector<std::int32_t> unserved() const;
  /// The number of a task by the id of its first stop; none when there is no such task. Throws
  /// DataError for an id that a job and a shipment share.
  [[nodiscard]] std::optional<std::int32_t> find(std::string_view id) const;
  /// Who serves a task; -1: nobody.
  [[nodiscard]] std::int32_t vehicle_of(std::int32_t task) const;
  [[nodiscard]] Money cost() const;
  [[nodiscard]] std::int64_t metres() const;
  [[nodiscard]] std::int64_t seconds() const;  // of driving
  [[nodiscard]] std::int32_t vehicles_used() const;

  /// The cheapest place for a request in each of the windows, which stand in for those of its job
  /// or pickup, or of its delivery. Takes time proportional to the stops for a job; for a shipment
  /// to the pairs of stops of each route. Nothing changes.
  std::vector<Quote> quote(const Request& request, std::span<const TimeWindow> windows,
                           bool of_delivery = false);
  /// The same of the request's own windows, all allowed.
  Quote quote(const Request& request);

  /// The route as it would be with the request at a place that quote() told for this window. The
  /// request's visits are of no task that there is.
  Route preview(const Request& request, const TimeWindow& window, const Placement& where,
                bool of_delivery = false);

  /// Takes a request in with this window promised, at the cheapest place of now, and returns its
  /// number; none when it does not fit, and then nothing changes. Its own windows stay when none
  /// is given. Throws DataError when its id is taken.
  std::optional<std::int32_t> insert(const Request& request, std::optional<TimeWindow> window = {},
                                     bool of_delivery = false);
  /// Puts a task of the problem that is unserved where it is cheapest; false when it fits nowhere.
  bool serve(std::int32_t task);
  /// Takes a task out of its route; it stays in the problem, unserved.
  void withdraw(std::int32_t task);
  /// Takes a task out of the route and the problem; its number may be used again. False when
  /// others could not be served in time then, and nothing changes: a matrix may hold a way that is
  /// longer than the one through the task's place.
  [[nodiscard]] bool remove(std::int32_t task);
  /// Loads routes: for each vehicle stops as in `Visit::stop`. Returns what is wrong, in words, and
  /// then nothing has changed.
  std::optional<std::string> load(std::span<const std::vector<std::int32_t>> stops);
  /// No task is served any more.
  void clear();

  /// The vehicle's first stops are under way: they stay first, and nothing is driven to after them
  /// before `now`. Throws UsageError for more stops than it has.
  void freeze(std::int32_t vehicle, std::int32_t stops, Time now);

  /// Rounds of ruin and recreate from the plan as it is, which becomes the best that was found: no
  /// task that was served is left, and the cost does not rise. Unserved tasks are tried too. The
  /// same for the same plan, seed and iterations. Returns whether anything changed.
  bool improve(std::int64_t iterations, std::uint64_t seed);
  /// The whole search of `solve`, from the steps that vehicles have.
  void anneal(const SolveConfig& config);

 private:
  struct Scratch;

  void load_steps();
  bool anneal_uniform(const SolveConfig& config);
  std::int32_t admit(const Request& request);
  void forget(std::int32_t task);
  bool serve_again(std::int32_t vehicle);
  Placement cheapest(std::int32_t task);
  void quote_job(std::int32_t task, std::span<const TimeWindow> windows, std::span<Quote> quotes);
  void quote_shipment(std::int32_t task, std::span<const TimeWindow> windows, std::size_t stop,
                      std::span<Quote> quotes);
  void put(std::int32_t task, const Placement& where);
  Obstacle obstacle_of(std::int32_t task, std::size_t stop);
  void tell_detour(std::int32_t task, Quote& quote);

  Problem problem_;
  std::vector<Route> routes_;             // [vehicles]
  std::vector<std::int32_t> vehicle_of_;  // [tasks]
  std::vector<std::int32_t> free_tasks_;
  std::vector<std::int32_t> free_places_;
  std::unordered_map<std::string, std::int32_t> number_of_;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace penstock::booking::dispatch
