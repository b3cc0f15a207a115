#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/core/env/spec.h"
#include "penstock/domains/booking/env/answers.h"
#include "penstock/domains/booking/env/booking.h"
#include "penstock/domains/booking/env/offer_prices.h"

namespace penstock::booking {

/// list: a row per request, [C, 6]. hist: counts by zone and half-hour, [606, 2]. set: a token per
/// request with coordinates and slack, the insertion price of each offer, chances and belief.
enum class ObsKind : std::uint8_t { list, hist, set };

/// What one env keeps of its day for observations: zones, and the places of what was promised in
/// the histogram.
/// Both are found once, not in every step.
class ObsCache {
 public:
  /// A new day; `side` is of the square that the zones divide.
  void begin(const Booking& booking, double side);
  /// Adds what was promised since the last call.
  void follow(const Booking& booking);

  /// The six entries of a request in the histogram, or in a row of the list.
  struct Entry {
    std::int32_t pickup_zone;  // 0 to 206
    std::int32_t drop_zone;    // likewise; the same as the pickup's in deliver mode
    std::array<Window, 2> windows;
  };
  [[nodiscard]] Entry entry(const Instance& instance, std::int32_t request) const;
  /// Where in the histogram what was promised counts: six places per request, each counting one.
  [[nodiscard]] std::span<const std::uint16_t> places() const { return places_; }

 private:
  std::vector<std::int16_t> zones_;  // [nodes]
  std::vector<std::uint16_t> places_;
  std::size_t num_counted_ = 0;
};

/// Writes rows of one kind.
/// Const calls may come from several threads, each with a cache and a quoter of its own.
class ObsWriter {
 public:
  struct Options {
    ObsKind kind = ObsKind::set;
    bool values = false;  // list and hist: a part with the myopic value of each offer follows,
    bool belief = false;  // and one with the belief about the caller
    std::size_t num_customers = 30;
    double side = 1;  // metres
  };
  ObsWriter(const Options& options, const BookingRules& rules);

  [[nodiscard]] const Layout& layout() const { return layout_; }
  /// Whether write() looks at the belief.
  [[nodiscard]] bool needs_belief() const { return options_.values || shows_belief(); }
  [[nodiscard]] double side() const { return options_.side; }
  /// The row [layout().size()] to act on; also when the day is over, without a caller then. The
  /// cache must have followed the booking.
  void write(const Booking& booking, const ObsCache& cache, const Belief& belief, Quoter& quoter,
             std::span<float> row) const;

  /// Places of the histogram's entries: 2 x 207 zones, 4 x 48 half-hours.
  static constexpr std::size_t kHalfHours = 48;
  static constexpr std::size_t kHistogram = 606;
  static constexpr std::size_t kTokenWidth = 16;

 private:
  void write_list(const Booking& booking, const ObsCache& cache, std::span<float> row) const;
  void write_set(const Booking& booking, const Belief& belief, Quoter& quoter,
                 std::span<float> row) const;
  void write_values(const Booking& booking, const Belief& belief, Quoter& quoter,
                    std::span<float> values) const;
  /// What offers promise at once by the prices of the loaded booking.
  struct Outlook {
    std::array<Cost, kNumOffers> prices;
    std::array<double, kNumOffers> chances;
    std::array<float, kNumOffers> values;  // km less than without a change
  };
  [[nodiscard]] Outlook outlook(const Belief& belief, Quoter& quoter) const;
  [[nodiscard]] bool shows_belief() const {
    return options_.belief || options_.kind == ObsKind::set;
  }

  Options options_;
  BookingRules rules_;
  Layout layout_;
};

}  // namespace penstock::booking
