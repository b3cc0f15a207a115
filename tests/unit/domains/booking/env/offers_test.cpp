#include "penstock/domains/booking/env/offers.h"

#include <doctest/doctest.h>

#include <set>

namespace penstock::booking {
namespace {

constexpr Seconds kMinute = 60;
const RequestWindows kRide = {Window{28800, 30600}, Window{29700, 31500}};

RequestWindows offered(const RequestWindows& wished, Mode mode, OfferKind kind, int action) {
  return offered_windows(wished, mode, kind, action);
}

TEST_CASE("the order of the offers is fixed") {
  CHECK(offered_time(kNoChange) == OfferedTime{0, 0});
  CHECK(offered_time(0) == OfferedTime{30 * kMinute, 0});
  CHECK(offered_time(3) == OfferedTime{30 * kMinute, 30 * kMinute});
  CHECK(offered_time(15) == OfferedTime{0, 30 * kMinute});
  CHECK(offered_time(6) == OfferedTime{20 * kMinute, 20 * kMinute});
  CHECK(offered_minutes(6) == 40);
  std::set<std::pair<Seconds, Seconds>> all;
  for (int action = 0; action < kOffers; ++action) {
    const OfferedTime time = offered_time(action);
    all.insert({time.earlier, time.later});
  }
  CHECK(all.size() == kOffers);
}

TEST_CASE("a shifted ride is picked up earlier and put down later") {
  const RequestWindows shifted = offered(kRide, Mode::ride, OfferKind::shift, 1);  // 30, 10
  CHECK(shifted[0] == Window{27000, 28800});
  CHECK(shifted[1] == Window{30300, 32100});
}

TEST_CASE("a widened ride keeps the wished windows inside") {
  const RequestWindows wide = offered(kRide, Mode::ride, OfferKind::widen, 1);
  CHECK(wide[0] == Window{27000, 31200});
  CHECK(wide[1] == Window{27900, 32100});
}

TEST_CASE("a single stop moves by the difference, or widens") {
  const RequestWindows stop = {Window{28800, 30600}, Window{}};
  CHECK(offered(stop, Mode::deliver, OfferKind::shift, 1)[0] == Window{27600, 29400});
  CHECK(offered(stop, Mode::deliver, OfferKind::shift, 3)[0] == stop[0]);
  CHECK(offered(stop, Mode::deliver, OfferKind::widen, 1)[0] == Window{27000, 31200});
}

TEST_CASE("offers are read from the instance's own windows") {
  Instance instance;
  instance.mode = Mode::deliver;
  instance.nodes = {Node{{0, 86400}, 0, 0}, Node{{100, 200}, 0, 1}, Node{{28800, 30600}, 0, 1}};
  CHECK(windows_of(instance, 1)[0] == Window{28800, 30600});
  CHECK(offered_windows(instance, 1, OfferKind::widen, 15)[0] == Window{28800, 32400});
  instance.mode = Mode::ride;
  CHECK(windows_of(instance, 0) == RequestWindows{Window{100, 200}, Window{28800, 30600}});
  CHECK(offered_windows(instance, 0, OfferKind::shift, kNoChange) == windows_of(instance, 0));
}

}  // namespace
}  // namespace penstock::booking
