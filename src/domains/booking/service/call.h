#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/domains/booking/dispatch/problem.h"
#include "penstock/domains/booking/routing/json_field.h"

namespace penstock::booking::service {

using dispatch::TimeWindow;

/// When work at a customer may begin, on the day of a plan.
struct Slot {
  std::string date;  // empty: the plan's own
  TimeWindow window;
  double fee = 0;  // what the customer pays for it; below 0: an incentive
};

/// What a customer was shown, so that the answer says something about them.
struct Showing {
  std::string customer;
  std::vector<Slot> slots;
};

/// The stop of a shipment that a slot is for.
enum class SlotStop { pickup, delivery };

/// What is to be done for a customer: a job or a shipment, whose slot is told apart.
struct Wish {
  std::string task;  // JSON, as dispatch::read_request takes it
  bool is_job = true;
  std::string id;
  SlotStop slot_stop = SlotStop::delivery;
};

struct QuoteCall {
  Wish wish;
  std::vector<Slot> slots;
  std::string customer;  // empty: anybody
};

/// A call that may change a plan. What a verb does not take is empty.
struct ChangeCall {
  std::string verb;
  std::string id;  // of the booking
  std::optional<Wish> wish;
  std::optional<TimeWindow> window;
  std::int64_t ttl_ms = 0;
  std::string vehicle;      // of progress
  std::int32_t stops = 0;   // of progress: how many of its first stops are as they are
  dispatch::Time time = 0;  // of progress: nothing else is driven to before
  std::optional<Showing> showing{};
  std::string key;  // idempotency; empty: none
  std::optional<std::int64_t> if_version;
  std::string text;  // the verb and the body, written one way
};

/// Whether a text is a day that there is, "YYYY-MM-DD".
bool is_date(std::string_view text);

/// Read a body. Throw DataError that names the field.
QuoteCall read_quote(const std::string& body);
ChangeCall read_change(const std::string& verb, const std::string& body);

/// The window as it is stored and told: ["HH:MM:SS", "HH:MM:SS"].
Json window_json(const TimeWindow& window);
TimeWindow read_window(const JsonField& field);
/// {"job" or "shipment": ..., "slot_of": ...}, as it is stored and read.
std::string wish_text(const Wish& wish);
Wish read_wish(const JsonField& field);
Wish read_wish(const std::string& text);
/// ,"customer": ..., "offered": [slots]: as it is stored behind a wish and read; nothing where
/// there is none.
std::string showing_text(const Showing& showing);
std::optional<Showing> read_showing(const JsonField& field);
/// Slots as they are stored and read, with all their fields.
Json slots_json(const std::vector<Slot>& slots);
std::vector<Slot> read_slots(const JsonField& field);
/// What stands for a customer: 1 to 100 letters, digits and . _ ~ @ : -
bool is_customer(std::string_view text);

}  // namespace penstock::booking::service
