#include "penstock/domains/booking/env/obs_writer.h"

#include <algorithm>

#include "domains/booking/env/tokens.h"
#include "penstock/domains/booking/env/offer_prices.h"
#include "penstock/domains/booking/env/zones.h"

namespace penstock::booking {
namespace {

constexpr std::size_t kListWidth = 6;
constexpr float kNoZone = -1;  // of a row without a request

constexpr std::size_t kNumZones = kZones;
static_assert(ObsWriter::kHistogram == 2 * kNumZones + 4 * ObsWriter::kHalfHours);

std::size_t half_hour(const Instance& instance, Seconds time) {
  constexpr float kSlots = ObsWriter::kHalfHours;
  const float slot = share_of_day(instance, time) * kSlots;
  return static_cast<std::size_t>(std::clamp(slot, 0.0F, kSlots - 1));
}

/// The places of a request's six counts.
std::array<std::size_t, kListWidth> places_of(const Instance& instance,
                                              const ObsCache::Entry& entry) {
  constexpr std::size_t kTimes = 2 * kNumZones;
  constexpr std::size_t kSlots = ObsWriter::kHalfHours;
  return {static_cast<std::size_t>(entry.pickup_zone),
          kNumZones + entry.drop_zone,
          kTimes + half_hour(instance, entry.windows[0].earliest),
          kTimes + kSlots + half_hour(instance, entry.windows[0].latest),
          kTimes + 2 * kSlots + half_hour(instance, entry.windows[1].earliest),
          kTimes + 3 * kSlots + half_hour(instance, entry.windows[1].latest)};
}

void write_list_row(const Instance& instance, const ObsCache::Entry& entry, float* row) {
  row[0] = entry.pickup_zone;
  row[1] = share_of_day(instance, entry.windows[0].earliest);
  row[2] = share_of_day(instance, entry.windows[0].latest);
  row[3] = entry.drop_zone;
  row[4] = share_of_day(instance, entry.windows[1].earliest);
  row[5] = share_of_day(instance, entry.windows[1].latest);
}

/// The places of what counts in [606, 2]: of promises in column 0, of the caller in column 1.
void write_hist(const Booking& booking, const ObsCache& cache, std::span<float> row) {
  auto next = row.begin();
  for (const std::size_t place : cache.places()) { *next++ = static_cast<float>(2 * place); }
  if (!booking.over()) {
    const Instance& instance = booking.instance();
    for (const std::size_t place : places_of(instance, cache.entry(instance, booking.request()))) {
      *next++ = static_cast<float>(2 * place + 1);
    }
  }
  std::fill(next, row.end(), -1.0F);
}

Layout make_layout(const ObsWriter::Options& options) {
  const std::int64_t customers = options.num_customers;
  Layout layout;
  if (options.kind == ObsKind::list) {
    // Zones are names, not amounts: whoever reads them looks them up.
    layout.append("requests[zone,day,day,zone,day,day]", {customers, kListWidth},
                  {{0, "zone", kZones}, {3, "zone", kZones}});
  } else if (options.kind == ObsKind::hist) {
    layout.append_counts("hist", {ObsWriter::kHistogram, 2}, kListWidth * options.num_customers);
  } else {
    layout.append("tokens", {customers + 1, ObsWriter::kTokenWidth});
    layout.append("savings", {kOffers});
    layout.append("chances", {kOffers});
    layout.append("values", {kOffers});
  }
  if (options.values) { layout.append("values", {kOffers}); }
  if (options.belief || options.kind == ObsKind::set) {
    layout.append("belief", {static_cast<std::int64_t>(kNumTypes)});
  }
  return layout;
}

}  // namespace

void ObsCache::begin(const Booking& booking, double side) {
  const Instance& instance = booking.instance();
  zones_.assign(instance.num_nodes(), 0);
  for (std::size_t node = 0; node < instance.points.size(); ++node) {
    zones_[node] = zone_of(instance.points[node], side);
  }
  places_.clear();
  places_.reserve(kListWidth * instance.num_requests());
  num_counted_ = 0;
  follow(booking);
}

void ObsCache::follow(const Booking& booking) {
  const Instance& instance = booking.instance();
  for (; num_counted_ < booking.served().size(); ++num_counted_) {
    const std::int32_t request = booking.served()[num_counted_];
    for (const std::size_t place : places_of(instance, entry(instance, request))) {
      places_.push_back(place);
    }
  }
}

ObsCache::Entry ObsCache::entry(const Instance& instance, std::int32_t request) const {
  const std::size_t pickup = instance.first_node(request);
  const auto drop = pickup + instance.stops_per_request() - 1;
  return {
      zones_[pickup], zones_[drop], {instance.nodes[pickup].window, instance.nodes[drop].window}};
}

ObsWriter::ObsWriter(const Options& options, const BookingRules& rules)
    : options_(options), rules_(rules), layout_(make_layout(options)) {}

void ObsWriter::write(const Booking& booking, const ObsCache& cache, const Belief& belief,
                      Quoter& quoter, std::span<float> row) const {
  switch (options_.kind) {
    case ObsKind::list:
      write_list(booking, cache, row);
      break;
    case ObsKind::hist:
      write_hist(booking, cache, row.first(kListWidth * options_.num_customers));
      break;
    case ObsKind::set:
      write_set(booking, belief, quoter, row);
      break;
  }
  if (options_.values) {
    const std::size_t tail = kNumOffers + (shows_belief() ? kNumTypes : 0);
    write_values(booking, belief, quoter, row.last(tail).first(kNumOffers));
  }
  if (shows_belief()) {
    std::ranges::transform(belief, row.last(kNumTypes).begin(),
                           [](double p) { return static_cast<float>(p); });
  }
}

void ObsWriter::write_list(const Booking& booking, const ObsCache& cache,
                           std::span<float> row) const {
  const Instance& instance = booking.instance();
  const std::size_t num_rows = options_.num_customers;
  const std::size_t num_served = booking.served().size();
  for (std::size_t k = 0; k < num_rows; ++k) {
    float* out = row.data() + k * kListWidth;
    if (k < num_served) {
      write_list_row(instance, cache.entry(instance, booking.served()[k]), out);
    } else {
      std::fill_n(out, kListWidth, 0.0F);
      out[0] = out[3] = kNoZone;
    }
  }
  if (booking.over()) { return; }
  write_list_row(instance, cache.entry(instance, booking.request()),
                 row.data() + (num_rows - 1) * kListWidth);
}

void ObsWriter::write_set(const Booking& booking, const Belief& belief, Quoter& quoter,
                          std::span<float> row) const {
  const std::size_t num_tokens = (options_.num_customers + 1) * kTokenWidth;
  const std::span<float> savings = row.subspan(num_tokens, kNumOffers);
  const std::span<float> chances = row.subspan(num_tokens + kNumOffers, kNumOffers);
  const std::span<float> values = row.subspan(num_tokens + 2 * kNumOffers, kNumOffers);
  std::ranges::fill(savings, 0.0F);
  std::ranges::fill(chances, 0.0F);
  std::ranges::fill(values, 0.0F);
  quoter.load(booking);
  write_tokens(booking, quoter.routes(), options_.side, row.first(num_tokens));
  if (booking.over()) { return; }
  const Outlook offers = outlook(belief, quoter);
  const auto km = static_cast<float>(cost_of_km(rules_.unit));
  for (std::size_t offer = 0; offer < kNumOffers; ++offer) {
    savings[offer] = (offers.prices[kNoChange] - offers.prices[offer]) / km;
    chances[offer] = offers.chances[offer];
    values[offer] = offers.values[offer];
  }
}

void ObsWriter::write_values(const Booking& booking, const Belief& belief, Quoter& quoter,
                             std::span<float> values) const {
  std::ranges::fill(values, 0.0F);
  if (booking.over()) { return; }
  quoter.load(booking);
  std::ranges::copy(outlook(belief, quoter).values, values.begin());
}

ObsWriter::Outlook ObsWriter::outlook(const Belief& belief, Quoter& quoter) const {
  Outlook out{.prices = quoter.quote(rules_.offer),
              .chances = chances_of(rules_.answers, belief),
              .values = {}};
  // What fits nowhere costs what an unserved request costs.
  for (Cost& price : out.prices) { price = std::min(price, rules_.unserved); }
  const auto km = static_cast<float>(cost_of_km(rules_.unit));
  const auto expected = expected_prices(out.prices, out.chances, rules_);
  for (std::size_t offer = 0; offer < kNumOffers; ++offer) {
    out.values[offer] = static_cast<float>(expected[kNoChange] - expected[offer]) / km;
  }
  return out;
}

}  // namespace penstock::booking
