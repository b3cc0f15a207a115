#pragma once
#include <cstdint>
#include <memory>
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
  Cost added = 0;            // metres; negative when the search found a better plan than the given
  RequestWindows windows{};  // as promised
  std::vector<ChangedRoute> routes;
};

/// Prices offers. One thread at a time; memory is kept from query to query.
class OfferPricer {
 public:
  /// Without an oracle a price is that of the cheapest place in the plan as it stands; an oracle
  /// may plan anew around it.
  explicit OfferPricer(std::unique_ptr<RoutingOracle> oracle = nullptr)
      : oracle_(std::move(oracle)) {}

  /// All 16: those that fit first, the cheapest at the front (among equals that of fewest minutes,
  /// then by number), then those that do not.
  std::vector<PricedOffer> price(const OfferQuery& query);

 private:
  PricedOffer insert(const OfferQuery& query, std::int32_t action);
  PricedOffer search(const OfferQuery& query, std::int32_t action);

  std::unique_ptr<RoutingOracle> oracle_;  // none: insertion
  Tours tours_;
  Instance instance_;  // with the promised windows
  std::vector<std::int32_t> served_;
};

/// When service begins at each stop of a route: as early as windows and ride times allow. The nodes
/// are the instance's, with the windows as promised.
std::vector<Seconds> starts_of(const Instance& instance, std::span<const Node> nodes,
                               std::span<const std::int32_t> route);

/// The answer as JSON, one offer per line.
std::string offers_json(const OfferQuery& query, const std::vector<PricedOffer>& offers);

}  // namespace penstock::booking
