#pragma once
#include <cstdint>
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
  std::vector<std::string> ids;  // [requests]
  [[nodiscard]] std::int32_t request() const { return instance.num_requests() - 1; }
};

/// Reads the JSON that docs/booking/offer.md describes. The plan has passed the checker. Throws
/// DataError that names the field and the remedy.
OfferQuery parse_offer_query(std::string_view text, const std::string& name);

/// A route that an offer changes.
struct ChangedRoute {
  std::int32_t vehicle = 0;
  std::vector<std::int32_t> nodes;
};

/// What an offer would cost.
struct PricedOffer {
  std::int32_t action = 0;
  bool fits = false;
  Cost added = 0;                    // metres, beyond the base
  RequestWindows windows{};          // as promised
  std::vector<ChangedRoute> routes;  // against the plan of the query
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
  /// A plan with the new request.
  struct Found {
    std::vector<ChangedRoute> routes;  // against the plan of the query
    Cost cost = 0;
    std::int32_t action = 0;  // the offer that it was found for
    RequestWindows windows{};
  };
  void search(const OfferQuery& query, const OfferPrices& prices);
  void take_base(Plan plan, Cost cost);
  void leave_out(const OfferQuery& query, const Plan& plan);
  void insert(const OfferQuery& query, const OfferPrices& prices);
  [[nodiscard]] bool keeps(const Found& found, std::int32_t first_node) const;
  void choose(const OfferQuery& query, PricedOffer& offer);
  [[nodiscard]] Cost shortfall(const OfferPrices& prices) const;

  std::unique_ptr<RoutingOracle> oracle_;  // none: insertion
  Tours tours_;
  Instance instance_;  // with the promised windows
  std::vector<std::int32_t> served_;
  Plan base_;  // the best plan known without the new request
  Cost base_cost_ = 0;
  Cost searched_base_ = 0;  // before plans with the new request showed a better one
  std::vector<Found> found_;
  std::size_t num_searched_ = 0;  // of found_: those by the oracle come first
};

/// When service begins at each stop of a route: as early as windows and ride times allow. The nodes
/// are the instance's, with the windows as promised.
std::vector<Seconds> starts_of(const Instance& instance, std::span<const Node> nodes,
                               std::span<const std::int32_t> route);

/// The answer as JSON, one offer per line.
std::string offers_json(const OfferQuery& query, const OfferPrices& prices);

}  // namespace penstock::booking
