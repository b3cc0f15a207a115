// Whether prices of one answer agree: pairs of offers of which one window contains the other.
//     nested_offers ORACLE PAIRS [REFERENCE]
// With a REFERENCE, as in rr-2000, also how far its prices are from those of ORACLE, beside the
// error that is told.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "penstock/domains/booking/neural/neural_oracle.h"
#include "penstock/domains/booking/offer/offer.h"
#include "penstock/domains/booking/routing/generators.h"
#include "support/nested_offers.h"

namespace {

using namespace penstock::booking;

std::unique_ptr<OfferPricer> make_pricer(const std::string& oracle) {
  return std::make_unique<OfferPricer>(oracle == "insertion" ? nullptr : make_any_oracle(oracle));
}

/// Prices beside those of a longer search.
struct Distance {
  int offers = 0;
  int within = 0;  // the error that was told
  Cost sum = 0;
  Cost told = 0;
  void count(const OfferPrices& prices, const OfferPrices& reference) {
    for (const PricedOffer& one : prices.offers) {
      for (const PricedOffer& other : reference.offers) {
        if (one.action != other.action || !one.fits || !other.fits) { continue; }
        const Cost apart = std::abs(one.added - other.added);
        ++offers;
        within += apart <= prices.error.value_or(0) ? 1 : 0;
        sum += apart;
        told += prices.error.value_or(0);
      }
    }
  }
};

void measure(Mode mode, const std::string& oracle, int least, const std::string& reference) {
  const auto generator = make_generator(mode == Mode::ride ? "city" : "delivery",
                                        {.mode = mode, .requests = 41, .vehicles = 6});
  const auto pricer = make_pricer(oracle);
  const auto longer = reference.empty() ? nullptr : make_pricer(reference);
  NestedPairs pairs;
  Distance distance;
  OfferQuery query;
  for (std::uint64_t seed = 0; pairs.all < least; ++seed) {
    if (!planned_day(*generator, seed, "rr-50", query)) { continue; }
    const OfferPrices prices = pricer->price(query);
    pairs.count(prices);
    if (longer) { distance.count(prices, longer->price(query)); }
  }
  fmt::print("{}, {}: {} pairs, wider priced dearer {}, worst {:.3f} km\n", oracle, to_string(mode),
             pairs.all, pairs.dearer, 1e-3 * pairs.worst);
  if (distance.offers == 0) { return; }
  const double offers = distance.offers;
  fmt::print("  beside {}: {:.3f} km apart on average, told {:.3f} km; {:.1f} % within\n",
             reference, 1e-3 * static_cast<double>(distance.sum) / offers,
             1e-3 * static_cast<double>(distance.told) / offers, 100 * distance.within / offers);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2) {
    fmt::print(stderr, "nested_offers ORACLE PAIRS [REFERENCE]\n");
    return 2;
  }
  for (const Mode mode : {Mode::ride, Mode::deliver}) {
    measure(mode, words[0], std::stoi(words[1]), words.size() > 2 ? words[2] : "");
  }
  return 0;
}
