#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/domains/booking/env/offers.h"
#include "penstock/domains/booking/routing/oracle.h"
#include "penstock/domains/booking/routing/tours.h"

namespace penstock::booking {

/// "Which time slots should I propose for a new job?": the plan so far and the job.
struct OfferQuery {
  Instance instance;  // the new request is its last, its windows as wished
  Plan plan;          // of all the others, one route per vehicle
  OfferKind kind = OfferKind::shift;
  Metres per_ride_minute = 0;           // what a customer's minute on board counts for
  std::vector<std::string> ids;         // [requests]
  std::vector<bool> id_is_number = {};  // [requests], or empty: none; as the answer writes it
  [[nodiscard]] std::int32_t request() const { return instance.num_requests() - 1; }
};

/// Reads the JSON that docs/booking/offer.md describes. The plan has passed the checker. Throws
/// DataError that names the field and the remedy.
OfferQuery parse_offer_query(std::string_view text, const std::string& name);

/// A route that an offer changes.
struct ChangedRoute {
  std::int32_t vehicle = 0;
  std::vector<std::int32_t> nodes;
  std::vector<Seconds> starts;  // of service at each, by late_starts_of()
};

/// What keeps an offer from fitting: without this one thing the request had a place in the base.
enum class Obstacle : std::uint8_t {
  none,
  capacity,
  ride,     // the longest ride
  day,      // the working day
  window,   // the offer's own windows
  several,  // more than one of these, or other promises
};

/// What an offer would cost.
struct PricedOffer {
  std::int32_t action = 0;
  bool fits = false;
  Obstacle obstacle = Obstacle::none;  // none of what fits
  Cost added = 0;                      // metres, beyond the base
  std::int64_t added_ride = 0;         // seconds of all customers on board, beyond the base
  double price = 0;                    // metres: `added`, and added_ride at its price
  RequestWindows windows{};            // as promised
  std::vector<ChangedRoute> routes;    // against the plan of the query
};

/// All offers of a query. Of two that fit, one whose windows contain the other's is never dearer;
/// where the narrower fits, the wider does.
struct OfferPrices {
  Cost base = 0;  // metres of the best plan known without the new request
  /// The most that one search cost more than the best plan known for the same question: how far
  /// off prices may be, not a bound. None without an oracle.
  std::optional<Cost> error;
  /// At most kOffers: windows lie inside the working day, and no two offers have the same (the one
  /// of fewest minutes stays). Those that fit first, the cheapest at the front (among equals that
  /// of fewest minutes, then by number), then those that do not.
  std::vector<PricedOffer> offers;
};

/// Prices offers. One thread at a time; memory is kept from query to query.
class OfferPricer {
 public:
  /// Without an oracle a price is that of the cheapest place in the plan as it stands. An oracle
  /// plans the base anew, and every offer from there; each plan that was found is a candidate for
  /// all offers whose windows it keeps.
  explicit OfferPricer(std::unique_ptr<RoutingOracle> oracle = nullptr)
      : oracle_(std::move(oracle)) {}

  OfferPrices price(const OfferQuery& query);

 private:
  /// Metres and seconds on board together: sixtieths of a metre.
  using Value = std::int64_t;
  /// A plan with the new request.
  struct Found {
    std::vector<ChangedRoute> routes;  // against the plan of the query
    Cost cost = 0;
    std::int32_t action = 0;  // the offer that it was found for
    RequestWindows windows{};
    std::size_t own = 0;          // of routes: the one with the new request
    std::int64_t other_ride = 0;  // seconds on board of all other routes of the plan
  };
  /// A plan with its timetable for one offer.
  struct Choice {
    const Found* found = nullptr;
    std::vector<Seconds> own_starts;
    std::int64_t ride = 0;
    Value value = std::numeric_limits<Value>::max();
  };
  void begin(const OfferQuery& query);
  void promise_offer(const PricedOffer& offer);
  [[nodiscard]] Value value_of(Cost cost, std::int64_t ride) const;
  [[nodiscard]] std::int64_t ride_of(const std::vector<std::int32_t>& route) const;
  [[nodiscard]] std::int64_t ride_of(const Plan& plan) const;
  void search(const OfferPrices& prices);
  void take_base(Plan plan, Cost cost);
  void leave_out(const Plan& plan);
  void insert(const OfferPrices& prices);
  void add_found(const PricedOffer& offer, std::vector<ChangedRoute> routes, Cost cost);
  [[nodiscard]] bool keeps(const Found& found, const PricedOffer& offer) const;
  void weigh(const Found& found, const PricedOffer& offer, Choice& best) const;
  [[nodiscard]] Choice choose(const PricedOffer& offer);
  void share(const OfferPrices& prices, std::vector<Choice>& choices) const;
  void tell(const Choice& choice, PricedOffer& offer) const;
  [[nodiscard]] Cost shortfall(const OfferPrices& prices) const;
  void find_obstacles(OfferPrices& prices);
  void try_without(Obstacle obstacle, OfferPrices& prices);

  std::unique_ptr<RoutingOracle> oracle_;  // none: insertion
  Tours tours_;
  const OfferQuery* query_ = nullptr;      // the one being priced
  Instance instance_;                      // for the oracle, with the promised windows
  std::vector<Node> nodes_;                // the same windows
  std::vector<std::int64_t> given_rides_;  // of each route of the query's plan, seconds
  std::vector<std::int32_t> served_;
  Plan base_;  // the best plan known without the new request
  Cost base_cost_ = 0;
  std::int64_t base_ride_ = 0;
  Cost searched_base_ = 0;  // before plans with the new request showed a better one
  std::vector<Found> found_;
  std::size_t num_searched_ = 0;  // of found_: those by the oracle come first
};

/// When service begins at each stop of a route that keeps its promises: as early as windows and
/// ride times allow. The nodes are the instance's, with the windows as promised.
std::vector<Seconds> starts_of(const Instance& instance, std::span<const Node> nodes,
                               std::span<const std::int32_t> route);
/// The same as a timetable to drive by: nobody boards earlier than he must. Rides are as short
/// together as the route allows, then the vehicle's time from the depot and back, then starts are
/// early. Exact unless a ride is at the limit of max_ride, where rides may stay longer than they
/// need be.
std::vector<Seconds> late_starts_of(const Instance& instance, std::span<const Node> nodes,
                                    std::span<const std::int32_t> route);

/// The answer as JSON, one offer per line.
std::string offers_json(const OfferQuery& query, const OfferPrices& prices);

}  // namespace penstock::booking
