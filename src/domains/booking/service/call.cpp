#include "domains/booking/service/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/slots/choice.h"

namespace penstock::booking::service {
namespace {

constexpr std::size_t kMostSlots = 500;
constexpr std::size_t kMostBytes = 1'000'000;
constexpr std::size_t kMostIdBytes = 100;
constexpr double kMostFee = 1e9;
constexpr std::int32_t kMostTtlS = 7 * 86400;

/// The name of a call's body in errors; fields point to it.
const std::string& body_name() {
  static const std::string kName = "request";
  return kName;
}

Json parse_body(const std::string& body) {
  Json json = try_parse_json(body.size() > kMostBytes ? std::string() : body);
  if (!json.is_object()) {
    throw DataError(fmt::format(
        "{}: should be a JSON object of at most {} bytes; /v1/openapi.json tells its fields",
        body_name(), kMostBytes));
  }
  return json;
}

/// An id of a caller, which comes back in answers.
std::string read_id(const JsonField& field) {
  std::string id = field.name();
  if (id.empty() || id.size() > kMostIdBytes) {
    field.fail(fmt::format("should have 1 to {} characters", kMostIdBytes));
  }
  return id;
}

/// Years in which calendars agree, and days that there are.
std::string read_date(const JsonField& field) {
  const std::string& text = field.text();
  if (!is_date(text)) { field.fail(R"(should be a day, "YYYY-MM-DD")"); }
  return text;
}

Slot read_slot(const JsonField& field) {
  field.require_object({"date", "window", "fee"});
  Slot slot;
  if (field.has("fee")) { slot.fee = field.at("fee").number(-kMostFee, kMostFee); }
  if (field.has("date")) { slot.date = read_date(field.at("date")); }
  slot.window = read_window(field.at("window"));
  return slot;
}

/// An id that may stand in a URL; it should be a pseudonym.
std::string read_customer(const JsonField& field) {
  std::string id = field.name();
  if (!is_customer(id)) {
    field.fail("should be 1 to 100 letters, digits and . _ ~ @ : -, that stand for a customer");
  }
  return id;
}

/// The time that is wished for, in windows of several widths around it.
std::vector<Slot> slots_around(const JsonField& body) {
  const dispatch::Time wish = body.at("around").time();
  std::vector<std::string> dates = {""};
  if (body.has("dates")) {
    const JsonField list = body.at("dates");
    list.require_array(kMostSlots / 10);
    dates.clear();
    for (std::size_t i = 0; i < list.size(); ++i) { dates.push_back(read_date(list.at(i))); }
  }
  const JsonField widths = body.at("widths_min");
  widths.require_array(10);
  std::vector<Slot> slots;
  for (const std::string& date : dates) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const dispatch::Time half = 30 * widths.at(i).integer(0, 1440);
      slots.push_back({date, {std::max<dispatch::Time>(0, wish - half), wish + half}});
    }
  }
  return slots;
}

bool has_wish(const JsonField& body) { return body.has("job") || body.has("shipment"); }

void read_common(const JsonField& body, ChangeCall& call) {
  if (body.has("key")) { call.key = read_id(body.at("key")); }
  if (body.has("if_version")) { call.if_version = body.at("if_version").integer(0, 2'000'000'000); }
}

void read_place(const JsonField& body, ChangeCall& call) {
  call.wish = read_wish(body);
  call.id = call.wish->id;
  const JsonField slot = body.at("slot");
  slot.require_object({"window"});
  call.window = read_window(slot.at("window"));
  call.showing = read_showing(body);
}

void read_hold(const JsonField& body, ChangeCall& call) {
  body.require_object(
      {"job", "shipment", "slot_of", "slot", "ttl_s", "customer", "offered", "key", "if_version"});
  read_place(body, call);
  call.ttl_ms = std::int64_t{1000} * body.at("ttl_s").integer(1, kMostTtlS);
}

void read_commit(const JsonField& body, ChangeCall& call) {
  body.require_object(
      {"id", "job", "shipment", "slot_of", "slot", "customer", "offered", "key", "if_version"});
  if (has_wish(body)) { return read_place(body, call); }
  for (const char* told : {"customer", "offered"}) {
    if (body.has(told)) { body.at(told).fail("was told with the hold: leave it out"); }
  }
  call.id = read_id(body.at("id"));
}

void read_by_id(const JsonField& body, ChangeCall& call) {
  body.require_object({"id", "key", "if_version"});
  call.id = read_id(body.at("id"));
}

void read_decline(const JsonField& body, ChangeCall& call) {
  body.require_object(
      {"id", "job", "shipment", "slot_of", "customer", "offered", "key", "if_version"});
  if (has_wish(body)) { call.wish = read_wish(body); }
  call.id = call.wish ? call.wish->id : read_id(body.at("id"));
  call.showing = read_showing(body);
}

void read_move(const JsonField& body, ChangeCall& call) {
  body.require_object({"id", "slot", "key", "if_version"});
  call.id = read_id(body.at("id"));
  const JsonField slot = body.at("slot");
  slot.require_object({"window"});
  call.window = read_window(slot.at("window"));
}

void read_progress(const JsonField& body, ChangeCall& call) {
  body.require_object({"vehicle", "stops", "time", "key", "if_version"});
  call.vehicle = read_id(body.at("vehicle"));
  call.stops = body.at("stops").integer(0, 10'000);
  if (body.has("time")) { call.time = body.at("time").time(); }
}

}  // namespace

bool is_date(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00";
  if (text.size() != kForm.size()) { return false; }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == '0' ? !digit : text[i] != '-') { return false; }
  }
  const auto number = [&](std::size_t at, std::size_t size) {
    return static_cast<unsigned>(std::stoi(std::string(text.substr(at, size))));
  };
  const std::chrono::year_month_day day(std::chrono::year(static_cast<int>(number(0, 4))),
                                        std::chrono::month(number(5, 2)),
                                        std::chrono::day(number(8, 2)));
  return day.ok();
}

Json window_json(const TimeWindow& window) {
  return {dispatch::clock_text(window.earliest), dispatch::clock_text(window.latest)};
}

TimeWindow read_window(const JsonField& field) {
  field.require_array(2);
  if (field.size() != 2) { field.fail(R"(should be [earliest, latest], as ["08:00", "10:00"])"); }
  const TimeWindow window{field.at(std::size_t{0}).time(), field.at(std::size_t{1}).time()};
  if (window.latest < window.earliest) { field.fail("ends before it begins"); }
  return window;
}

Wish read_wish(const JsonField& field) {
  const bool job = field.has("job");
  if (job == field.has("shipment")) { field.fail(R"(should have either "job" or "shipment")"); }
  const char* const kind = job ? "job" : "shipment";
  const JsonField task = field.at(kind);
  if (!task.json().is_object()) { task.fail("should be an object, { ... }"); }
  // A shipment goes by the id of its pickup.
  Wish wish{.task = to_text(task.json()),
            .is_job = job,
            .id = job ? read_id(task.at("id")) : read_id(task.at("pickup").at("id"))};
  if (field.has("slot_of")) {
    const JsonField slot_of = field.at("slot_of");
    const std::string& word = slot_of.text();
    if (word != "pickup" && word != "delivery") { slot_of.fail("should be pickup or delivery"); }
    wish.slot_stop = word == "pickup" ? SlotStop::pickup : SlotStop::delivery;
  }
  if (job) { wish.slot_stop = SlotStop::pickup; }  // its only stop
  return wish;
}

Wish read_wish(const std::string& text) {
  const std::string document = "the store";
  const Json json = parse_json(text);
  return read_wish(JsonField(json, document));
}

std::string wish_text(const Wish& wish) {
  return fmt::format(R"({{"{}":{},"slot_of":"{}"}})", wish.is_job ? "job" : "shipment", wish.task,
                     wish.slot_stop == SlotStop::pickup ? "pickup" : "delivery");
}

bool is_customer(std::string_view text) {
  constexpr std::string_view kOthers = "._~@:-";
  const auto fits = [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           kOthers.find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= kMostIdBytes &&
         std::all_of(text.begin(), text.end(), fits);
}

std::vector<Slot> read_slots(const JsonField& field) {
  field.require_array(kMostSlots);
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < field.size(); ++i) { slots.push_back(read_slot(field.at(i))); }
  return slots;
}

Json slots_json(const std::vector<Slot>& slots) {
  Json told = Json::array();
  for (const Slot& slot : slots) {
    Json& one = told.emplace_back(Json{{"window", window_json(slot.window)}});
    if (!slot.date.empty()) { one["date"] = slot.date; }
    if (slot.fee != 0) { one["fee"] = slot.fee; }
  }
  return told;
}

std::string showing_text(const Showing& showing) {
  return fmt::format(R"(,"customer":"{}","offered":{})", showing.customer,
                     to_text(slots_json(showing.slots)));
}

std::optional<Showing> read_showing(const JsonField& field) {
  if (!field.has("offered")) {
    if (field.has("customer")) {
      field.at("customer").fail("needs what was \"offered\" to this customer");
    }
    return {};
  }
  const JsonField offered = field.at("offered");
  offered.require_array(kMaxSlots);
  return Showing{.customer = read_customer(field.at("customer")), .slots = read_slots(offered)};
}

QuoteCall read_quote(const std::string& text) {
  const Json json = parse_body(text);
  const JsonField body(json, body_name());
  body.require_object(
      {"job", "shipment", "slot_of", "slots", "around", "widths_min", "dates", "customer"});
  QuoteCall call{.wish = read_wish(body)};
  if (body.has("customer")) { call.customer = read_customer(body.at("customer")); }
  call.slots = body.has("slots") ? read_slots(body.at("slots")) : slots_around(body);
  return call;
}

ChangeCall read_change(const std::string& verb, const std::string& text) {
  const Json json = parse_body(text);
  const JsonField body(json, body_name());
  ChangeCall call{.verb = verb};
  if (verb == "hold") {
    read_hold(body, call);
  } else if (verb == "commit") {
    read_commit(body, call);
  } else if (verb == "decline") {
    read_decline(body, call);
  } else if (verb == "move") {
    read_move(body, call);
  } else if (verb == "progress") {
    read_progress(body, call);
  } else {
    read_by_id(body, call);
  }
  read_common(body, call);
  call.text = fmt::format("{} {}", verb, to_text(json));
  return call;
}

}  // namespace penstock::booking::service
