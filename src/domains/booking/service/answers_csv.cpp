#include "domains/booking/service/answers_csv.h"

#include <fmt/format.h>

#include <iterator>

#include "domains/booking/service/call.h"
#include "domains/booking/service/wall_clock.h"

namespace penstock::booking::service {
namespace {

/// A number of a job, or of the first of a list of numbers.
double number_of(const Json& job, const char* name, double otherwise) {
  if (!job.contains(name)) { return otherwise; }
  const Json& value = job.at(name);
  if (value.is_array() && !value.empty() && value[0].is_number()) { return value[0].get<double>(); }
  return value.is_number() ? value.get<double>() : otherwise;
}

/// "2026-12-01T08:00:00"
std::string moment_of(std::int64_t ms) {
  constexpr std::int64_t kDay = 86'400;
  constexpr std::int64_t kSecond = 1000;
  return fmt::format("{}T{}", date_of(ms), dispatch::clock_text(ms / kSecond % kDay));
}

/// The job of a call, where it has a place on the globe.
const Json* job_of(const Json& choice) {
  if (!choice.contains("wish") || !choice.at("wish").contains("job")) { return nullptr; }
  const Json& job = choice.at("wish").at("job");
  const bool placed =
      job.contains("location") && job.at("location").is_array() && job.at("location").size() == 2;
  return placed ? &job : nullptr;
}

void put_rows(const Store::DatedChoice& dated, std::size_t call, std::string& text) {
  const std::string document = "the store: an answer";
  const Json choice = parse_json(dated.choice.text);
  const Json* const job = job_of(choice);
  if (job == nullptr) { return; }
  const JsonField field(choice, document);
  const std::vector<Slot> slots = read_slots(field.at("offered"));
  const std::int32_t taken = field.at("taken").integer(-1, static_cast<std::int32_t>(slots.size()));
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Slot& slot = slots[i];
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{},{},{},{},{}\n", call + 1,
                   slot.date, dated.choice.customer, moment_of(dated.at_ms),
                   number_of(*job, "service", 0), dispatch::clock_text(slot.window.earliest),
                   dispatch::clock_text(slot.window.latest), job->at("location")[0].get<double>(),
                   job->at("location")[1].get<double>(), number_of(*job, "delivery", 1), slot.fee,
                   number_of(*job, "revenue", 0),
                   taken == static_cast<std::int32_t>(i) ? "yes" : "no");
  }
}

}  // namespace

std::string answers_csv(const std::vector<Store::DatedChoice>& choices) {
  std::string text =
      "call,date,customer,booked_at,service,earliest,latest,lon,lat,amount,fee,revenue,answer\n";
  for (std::size_t i = 0; i < choices.size(); ++i) { put_rows(choices[i], i, text); }
  return text;
}

}  // namespace penstock::booking::service
