#include "domains/booking/dispatch/read_fields.h"

namespace penstock::booking::dispatch {
namespace {

constexpr std::int32_t kMostPriority = 100;
constexpr double kMostRevenue = 1e9;

/// What every stop has: place, times, id.
void read_stop(FieldReader& fields, const JsonField& field, Stop& stop, Place& place) {
  if (field.has("id")) { stop.id = FieldReader::name(field.at("id")); }
  stop.description = FieldReader::description(field);
  const auto there = fields.place(field, "location", "location_index");
  if (!there) {
    field.fail(R"(has no place: give "location" as [lon, lat], or "location_index" of a matrix)");
  }
  place = *there;
  if (field.has("setup")) { stop.setup = FieldReader::seconds(field.at("setup")); }
  if (field.has("service")) { stop.service = FieldReader::seconds(field.at("service")); }
  if (field.has("setup_per_type")) {
    stop.setup_by_type = fields.by_type(field.at("setup_per_type"));
  }
  if (field.has("service_per_type")) {
    stop.service_by_type = fields.by_type(field.at("service_per_type"));
  }
  if (field.has("time_windows")) { stop.windows = fields.windows(field.at("time_windows")); }
}

void read_worth(FieldReader& fields, const JsonField& field, Task& task) {
  if (field.has("skills")) { task.skills = fields.skills(field.at("skills")); }
  if (field.has("priority")) { task.priority = field.at("priority").integer(0, kMostPriority); }
  if (field.has("revenue")) {
    task.revenue = static_cast<Money>(field.at("revenue").number(0, kMostRevenue) * kUnit);
  }
}

void read_shipment_stop(FieldReader& fields, const JsonField& field, Stop& stop, Place& place) {
  field.require_object({"id", "description", "location", "location_index", "setup", "service",
                        "setup_per_type", "service_per_type", "time_windows"});
  read_stop(fields, field, stop, place);
}

}  // namespace

ReadTask read_job(FieldReader& fields, const JsonField& field) {
  field.require_object({"id", "description", "location", "location_index", "setup", "service",
                        "setup_per_type", "service_per_type", "delivery", "pickup", "skills",
                        "priority", "revenue", "time_windows"});
  ReadTask read;
  static_cast<void>(field.at("id"));  // or complain
  read_stop(fields, field, read.task.stops[0], read.places[0]);
  if (field.has("delivery")) { read.task.delivery = fields.amount(field.at("delivery")); }
  if (field.has("pickup")) { read.task.pickup = fields.amount(field.at("pickup")); }
  read_worth(fields, field, read.task);
  return read;
}

ReadTask read_shipment(FieldReader& fields, const JsonField& field) {
  field.require_object(
      {"id", "amount", "pickup", "delivery", "skills", "priority", "revenue", "max_ride"});
  ReadTask read;
  read.task.is_shipment = true;
  for (Stop& stop : read.task.stops) {
    if (field.has("id")) { stop.id = FieldReader::name(field.at("id")); }
  }
  read_shipment_stop(fields, field.at("pickup"), read.task.stops[0], read.places[0]);
  read_shipment_stop(fields, field.at("delivery"), read.task.stops[1], read.places[1]);
  for (const Stop& stop : read.task.stops) {
    if (stop.id.text.empty()) { field.fail("has no \"id\", and its stops have none either"); }
  }
  if (field.has("amount")) { read.task.pickup = fields.amount(field.at("amount")); }
  if (field.has("max_ride")) { read.task.max_ride = FieldReader::seconds(field.at("max_ride")); }
  read_worth(fields, field, read.task);
  return read;
}

}  // namespace penstock::booking::dispatch
