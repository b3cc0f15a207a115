#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <string_view>

#include "penstock/core/base/json_value.h"
#include "penstock/domains/booking/offer/offer.h"
#include "penstock/domains/booking/routing/checker.h"

namespace penstock::booking {
namespace {

using Text = fmt::memory_buffer;

template <class... Values>
void put(Text& text, fmt::format_string<Values...> pattern, Values&&... values) {
  fmt::format_to(std::back_inserter(text), pattern, std::forward<Values>(values)...);
}

void put_plain(Text& text, std::string_view words) {
  text.append(words.data(), words.data() + words.size());
}

/// HH:MM:SS, of a time that is not before midnight. By hand: an answer is mostly times.
void put_time(Text& text, Seconds time) {
  if (time >= 360000) {
    return put(text, "\"{}:{:02}:{:02}\"", time / 3600, time / 60 % 60, time % 60);
  }
  char clock[] = "\"00:00:00\"";
  char* at = clock + 1;
  for (const Seconds part : {time / 3600, time / 60 % 60, time % 60}) {
    at[0] = static_cast<char>('0' + part / 10);
    at[1] = static_cast<char>('0' + part % 10);
    at += 3;
  }
  put_plain(text, clock);
}

/// Whole metres as kilometres, exactly.
void put_km(Text& text, Cost metres) {
  const Cost size = metres < 0 ? -metres : metres;
  put(text, "{}{}.{:03}", metres < 0 ? "-" : "", size / 1000, size % 1000);
}

void put_window(Text& text, Window window) {
  put(text, "[");
  put_time(text, window.earliest);
  put(text, ", ");
  put_time(text, window.latest);
  put(text, "]");
}

const char* stop_name(const Instance& instance, std::int32_t node) {
  if (instance.mode == Mode::deliver) { return "stop"; }
  return node % 2 == 1 ? "pickup" : "dropoff";
}

std::string_view name_of(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::capacity:
      return "capacity";
    case Obstacle::ride:
      return "ride";
    case Obstacle::day:
      return "day";
    case Obstacle::window:
      return "window";
    default:
      return "several";
  }
}

class Answer {
 public:
  Answer(const OfferQuery& query, const OfferPrices& prices)
      : query_(query), prices_(prices), instance_(query.instance) {
    for (std::size_t i = 0; i < query.ids.size(); ++i) {
      const bool number = i < query.id_is_number.size() && query.id_is_number[i];
      ids_.push_back(number ? query.ids[i] : to_text(Json(query.ids[i])));
    }
    for (const PricedOffer& offer : prices.offers) {
      if (offer.action == kNoChange && offer.fits) { unchanged_ = offer.price; }
    }
  }

  std::string write() {
    put(text_, R"({{"request": {}, "plan_km": )", ids_.back());
    put_km(text_, cost_of(query_.instance, query_.plan));
    put(text_, ", \"base_km\": ");
    put_km(text_, prices_.base);
    if (prices_.error) {
      put(text_, ", \"error_km\": ");
      put_km(text_, *prices_.error);
    }
    put(text_, ", \"offers\": [");
    const char* before = "\n  ";
    for (const PricedOffer& offer : prices_.offers) {
      put(text_, "{}", before);
      write_offer(offer);
      before = ",\n  ";
    }
    put(text_, "\n]}}");
    return fmt::to_string(text_);
  }

 private:
  void write_offer(const PricedOffer& offer) {
    const auto [earlier, later] = offered_time(offer.action);
    put(text_, R"({{"offer": {}, "earlier_min": {}, "later_min": {}, "feasible": {})", offer.action,
        earlier / 60, later / 60, offer.fits);
    const bool ride = instance_.mode == Mode::ride;
    put(text_, ", \"{}\": ", ride ? "pickup" : "stop");
    put_window(text_, offer.windows[0]);
    if (ride) {
      put(text_, ", \"dropoff\": ");
      put_window(text_, offer.windows[1]);
    }
    if (offer.fits) {
      write_price(offer);
    } else {
      put(text_, R"(, "reason": "{}")", name_of(offer.obstacle));
    }
    put(text_, "}}");
  }

  void write_price(const PricedOffer& offer) {
    put(text_, ", \"added_km\": ");
    put_km(text_, offer.added);
    if (instance_.mode == Mode::ride) {
      put(text_, ", \"added_ride_min\": {:.1f}", static_cast<double>(offer.added_ride) / 60);
    }
    if (query_.per_ride_minute > 0) { put(text_, ", \"price_km\": {:.3f}", offer.price / 1000); }
    const std::int32_t minutes = offered_minutes(offer.action);
    if (unchanged_ && minutes > 0) {
      const double saved = (*unchanged_ - offer.price) / 1000;
      put(text_, R"(, "saved_km": {:.3f}, "saved_km_per_minute": {:.6f})", saved, saved / minutes);
    }
    put(text_, ", \"routes\": [");
    const char* before = "";
    for (const ChangedRoute& route : offer.routes) {
      put(text_, R"({}{{"vehicle": {})", before, route.vehicle);
      write_timetable(route);
      put(text_, "}}");
      before = ", ";
    }
    put(text_, "]");
  }

  void write_timetable(const ChangedRoute& route) {
    if (!route.nodes.empty()) {
      put(text_, ", \"leaves\": ");
      put_time(text_, route.starts.front() - instance_.duration_of(0, route.nodes.front()));
      put(text_, ", \"returns\": ");
      put_time(text_, end_of(route, route.nodes.size() - 1) +
                          instance_.duration_of(route.nodes.back(), 0));
    }
    put(text_, ", \"stops\": [");
    for (std::size_t i = 0; i < route.nodes.size(); ++i) { write_stop(route, i); }
    put(text_, "]");
  }

  void write_stop(const ChangedRoute& route, std::size_t i) {
    const std::int32_t node = route.nodes[i];
    // Whoever would wait where he arrives first leaves the depot later instead.
    const Seconds arrival =
        i == 0 ? route.starts[0]
               : end_of(route, i - 1) + instance_.duration_of(route.nodes[i - 1], node);
    put_plain(text_, i == 0 ? "{\"id\": " : ", {\"id\": ");
    put_plain(text_, ids_[instance_.request_of(node)]);
    put_plain(text_, R"(, "at": ")");
    put_plain(text_, stop_name(instance_, node));
    put_plain(text_, R"(", "arrival": )");
    put_time(text_, arrival);
    put_plain(text_, ", \"start\": ");
    put_time(text_, route.starts[i]);
    put_plain(text_, "}");
  }

  [[nodiscard]] Seconds end_of(const ChangedRoute& route, std::size_t i) const {
    return route.starts[i] + instance_.nodes[route.nodes[i]].service;
  }

  const OfferQuery& query_;
  const OfferPrices& prices_;
  const Instance& instance_;
  std::vector<std::string> ids_;
  std::optional<double> unchanged_;  // the wish, metres
  Text text_;
};

}  // namespace

std::string offers_json(const OfferQuery& query, const OfferPrices& prices) {
  return Answer(query, prices).write();
}

}  // namespace penstock::booking
