#include "domains/booking/slots/programme.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "domains/booking/slots/linear_program.h"
#include "domains/booking/slots/outlook.h"

namespace penstock::booking {
namespace {

/// Where the rows of the programme are: one per kind of call and period, and per slot one each of
/// vehicles' time, of vehicles, and of how many more start than in the slot before; then one per
/// day of vehicles that leave the depot. A period ends where a day stops taking bookings.
struct Rows {
  std::size_t kinds;
  std::size_t slots;
  std::size_t days;  // also the periods

  [[nodiscard]] std::size_t calls(std::size_t kind, std::size_t period) const {
    return kind * days + period;
  }
  [[nodiscard]] std::size_t time(std::size_t slot) const { return kinds * days + slot; }
  [[nodiscard]] std::size_t fleet(std::size_t slot) const { return time(slots) + slot; }
  [[nodiscard]] std::size_t starts(std::size_t slot) const { return fleet(slots) + slot; }
  [[nodiscard]] std::size_t leave(std::size_t day) const { return starts(slots) + day; }
  [[nodiscard]] std::size_t count() const { return leave(days); }
};

/// Fees that calls of a kind may be shown in a period.
struct Menu {
  std::size_t kind = 0;
  std::size_t period = 0;
  double gain = 0;                         // of a call
  std::array<double, kMaxSlots> chance{};  // of a sale in each slot
};

class ProgrammeSeller final : public SlotSeller {
 public:
  SlotOffer offer(SlotDay& day) override {
    if (day.num_called() == 0) { begin(day); }
    auto costs = insertion_costs(day);
    hours_ = hours_of(day);
    fill_rooms(day, hours_);
    solve(day);
    const double value = program_.value();
    for (std::size_t s = 0; s < day.market().num_slots(); ++s) {
      if (costs[s] != kWithheld) { costs[s] += value - value_after(day, s); }
    }
    return priced_offer(day, day.call().belief, costs);
  }

 private:
  void begin(const SlotDay& day) {
    constexpr std::uint64_t kImagined = 0x6b6c65696e;
    outlook_.imagine(day, day.episode().seed ^ kImagined);
    const SlotsConfig& config = day.market().config();
    rows_ = {.kinds = outlook_.kinds.size(),
             .slots = day.market().num_slots(),
             .days = static_cast<std::size_t>(config.days)};
    takes_.assign(rows_.count(), 0);
    rooms_.assign(rows_.count(), 0);
    menus_.clear();
    const std::vector<double> free(rows_.slots, 0);
    for (std::size_t k = 0; k < rows_.kinds; ++k) {
      for (std::size_t p = 0; p < rows_.days; ++p) { menus_.push_back(best_menu(day, k, p, free)); }
    }
  }

  static VehicleHours hours_of(const SlotDay& day) {
    VehicleHours hours;
    std::vector<std::int32_t> nodes;
    for (std::int32_t d = 0; d < day.market().config().days; ++d) {
      for (std::int32_t v = 0; v < day.episode().instance.vehicles; ++v) {
        hours.add(day, d, nodes_of(day, d, v, nodes), 1);
      }
    }
    return hours;
  }

  static std::span<const std::int32_t> nodes_of(const SlotDay& day, std::size_t service_day,
                                                std::int32_t vehicle,
                                                std::vector<std::int32_t>& nodes) {
    nodes.clear();
    for (const Stop& stop : day.routes(service_day).stops(vehicle)) {
      if (stop.node != 0) { nodes.push_back(stop.node); }
    }
    return nodes;
  }

  [[nodiscard]] static double width_of(const SlotTime& slot) { return slot.to - slot.from; }

  /// Vehicles that are out in a slot more than in the slot before it.
  [[nodiscard]] static double rise(const SlotMarket& market, const VehicleHours& hours,
                                   std::size_t s) {
    const auto& slots = market.slots();
    const double now = hours.paid[s] / width_of(slots[s]);
    const bool first = s == 0 || slots[s - 1].day != slots[s].day;
    return first ? now : now - hours.paid[s - 1] / width_of(slots[s - 1]);
  }

  // Of the hours that a vehicle waits, windows leave about half to others.
  static constexpr double kUsable = 0.5;

  void fill_rooms(const SlotDay& day, const VehicleHours& hours) {
    const SlotMarket& market = day.market();
    const double arrival = day.call().arrival;
    double from = 0;
    for (std::size_t p = 0; p < rows_.days; ++p) {
      const double to = market.cutoff(static_cast<std::int32_t>(p));
      const double left = std::max(0.0, to - std::max(arrival, from)) * day.episode().expected;
      for (std::size_t k = 0; k < rows_.kinds; ++k) {
        rooms_[rows_.calls(k, p)] = left * outlook_.kinds[k].share;
      }
      from = to;
      rooms_[rows_.leave(p)] = hours.opened[p];
    }
    for (std::size_t s = 0; s < rows_.slots; ++s) {
      const SlotTime& slot = market.slots()[s];
      const double most = day.episode().instance.vehicles * width_of(slot);
      const double more = rise(market, hours, s);
      rooms_[rows_.time(s)] = kUsable * std::max(0.0, hours.paid[s] - hours.busy[s]);
      rooms_[rows_.fleet(s)] = std::max(0.0, most - hours.paid[s]);
      rooms_[rows_.starts(s)] = std::max(0.0, -more);
      rooms_[rows_.leave(slot.day)] -= std::max(0.0, more);
    }
    for (std::size_t p = 0; p < rows_.days; ++p) {
      rooms_[rows_.leave(p)] = std::max(0.0, rooms_[rows_.leave(p)]);
    }
  }

  void add_column(double gain, std::initializer_list<std::pair<std::size_t, double>> takes) {
    std::ranges::fill(takes_, 0.0);
    for (const auto& [row, amount] : takes) { takes_[row] = amount; }
    program_.add(gain, takes_);
  }

  /// Hours that are paid beyond those of now, starts, and vehicles that leave beyond those of now.
  void add_supply(const SlotDay& day) {
    const SlotMarket& market = day.market();
    const SlotsConfig& config = market.config();
    for (std::size_t s = 0; s < rows_.slots; ++s) {
      const SlotTime& slot = market.slots()[s];
      const double part = 1 / width_of(slot);
      const bool last = s + 1 == rows_.slots || market.slots()[s + 1].day != slot.day;
      if (last) {
        add_column(-config.per_hour,
                   {{rows_.time(s), -1}, {rows_.fleet(s), 1}, {rows_.starts(s), part}});
      } else {
        add_column(-config.per_hour, {{rows_.time(s), -1},
                                      {rows_.fleet(s), 1},
                                      {rows_.starts(s), part},
                                      {rows_.starts(s + 1), -part}});
      }
      add_column(0, {{rows_.starts(s), -1}, {rows_.leave(slot.day), 1}});
    }
    const double leave = config.per_vehicle + 2 * outlook_.depot_km * config.per_km +
                         2 * outlook_.depot_hours * config.per_hour;
    for (std::size_t d = 0; d < rows_.days; ++d) { add_column(-leave, {{rows_.leave(d), -1}}); }
  }

  void add_menu(const Menu& menu) {
    std::ranges::fill(takes_, 0.0);
    takes_[rows_.calls(menu.kind, menu.period)] = 1;
    for (std::size_t s = 0; s < rows_.slots; ++s) {
      takes_[rows_.time(s)] = menu.chance[s] * outlook_.kinds[menu.kind].hours;
    }
    program_.add(menu.gain, takes_);
  }

  /// The menu that earns the most where an hour of a vehicle in a slot is worth `hour_prices`.
  [[nodiscard]] Menu best_menu(const SlotDay& day, std::size_t k, std::size_t period,
                               std::span<const double> hour_prices) const {
    const SlotMarket& market = day.market();
    const SlotsConfig& config = market.config();
    const CallKind& kind = outlook_.kinds[k];
    const double way = kind.km * config.per_km;
    std::array<double, kMaxSlots> costs{};
    std::array<double, kMaxSlots> fees{};
    for (std::size_t s = 0; s < rows_.slots; ++s) {
      const bool open = std::cmp_greater_equal(market.slots()[s].day, period);
      costs[s] = open ? way + kind.hours * hour_prices[s] : kWithheld;
    }
    const double worth = kind.revenue + config.lost;
    best_fees(kind.merged, worth, std::span(costs).first(rows_.slots),
              std::span(fees).first(rows_.slots));
    Menu menu{.kind = k, .period = period};
    for (double& fee : fees) {
      if (fee != kWithheld) { fee = std::clamp(fee, -config.max_fee, config.max_fee); }
    }
    kind.model.chances(kind.prior, fees, menu.chance);
    for (std::size_t s = 0; s < rows_.slots; ++s) {
      if (fees[s] != kWithheld) { menu.gain += menu.chance[s] * (worth + fees[s] - way); }
    }
    return menu;
  }

  /// Menus are added where the prices of now make a new one earn more, until none does to speak of.
  /// Those that are used stay for the next call.
  void solve(const SlotDay& day) {
    constexpr int kRounds = 8;
    program_.begin(rooms_);
    add_supply(day);
    const std::size_t before = 2 * rows_.slots + rows_.days;
    for (const Menu& menu : menus_) { add_menu(menu); }
    program_.maximise();
    std::vector<double> prices(rows_.slots);
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t s = 0; s < rows_.slots; ++s) { prices[s] = program_.price(rows_.time(s)); }
      if (!add_better(day, prices)) { break; }
      program_.maximise();
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < menus_.size(); ++i) {
      if (program_.amount(before + i) > 0) { menus_[kept++] = menus_[i]; }
    }
    menus_.resize(kept);
  }

  bool add_better(const SlotDay& day, std::span<const double> prices) {
    constexpr double kEnough = 0.01;  // money, for a call
    bool any = false;
    for (std::size_t k = 0; k < rows_.kinds; ++k) {
      for (std::size_t p = 0; p < rows_.days; ++p) {
        const std::size_t row = rows_.calls(k, p);
        if (rooms_[row] == 0) { continue; }
        const Menu menu = best_menu(day, k, p, prices);
        double gain = menu.gain - program_.price(row);
        for (std::size_t s = 0; s < rows_.slots; ++s) {
          gain -= prices[s] * menu.chance[s] * outlook_.kinds[k].hours;
        }
        if (gain < kEnough) { continue; }
        menus_.push_back(menu);
        add_menu(menu);
        any = true;
      }
    }
    return any;
  }

  /// What the rest of the horizon brings once the call has the slot.
  double value_after(SlotDay& day, std::size_t slot) {
    const std::int32_t service_day = day.market().slots()[slot].day;
    const std::int32_t vehicle = day.quote()[slot].place.vehicle;
    VehicleHours after = hours_;
    after.add(day, service_day, nodes_of(day, service_day, vehicle, nodes_), -1);
    after.add(day, service_day, day.route_with(slot), 1);
    fill_rooms(day, after);
    return program_.value_with(rooms_);
  }

  Outlook outlook_;
  Rows rows_{};
  std::vector<Menu> menus_;
  VehicleHours hours_;
  LinearProgram program_;
  std::vector<double> takes_;
  std::vector<double> rooms_;
  std::vector<std::int32_t> nodes_;
};

}  // namespace

std::unique_ptr<SlotSeller> make_programme_seller() { return std::make_unique<ProgrammeSeller>(); }

}  // namespace penstock::booking
