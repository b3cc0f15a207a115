#include "penstock/domains/booking/demand/taste.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/routing/json_field.h"

namespace penstock::booking::demand {
namespace {

constexpr double kNoon = 12;
constexpr double kEvening = 17;
/// Where what fees do is not known; the choice model wants a number above 0.
constexpr double kNoFeeEffect = 1e-12;
constexpr double kMostWorth = 1e6;

/// Not checked; nothing of a date is 0.
std::chrono::sys_days day_of(std::string_view date) {
  const auto number = [&](std::size_t at, std::size_t size) {
    int value = 0;
    if (date.size() >= at + size) { std::from_chars(&date[at], &date[at] + size, value); }
    return value;
  };
  return std::chrono::year(number(0, 4)) / number(5, 2) / number(8, 2);
}

double read_trait(const JsonField& taste, std::size_t trait) {
  const char* const name = kTraitNames[trait];
  if (!taste.has(name)) { return trait == kFee ? -kNoFeeEffect : 0; }
  const double worth = taste.at(name).number(-kMostWorth, kMostWorth);
  if (trait == kFee && worth >= 0) {
    taste.at(name).fail("should be below 0: nobody likes to pay");
  }
  return worth;
}

Taste read_taste(const JsonField& field) {
  field.require_object(
      {"name", "share", "any", "afternoon", "evening", "per_day", "per_hour", "fee"});
  Taste taste{.name = field.at("name").text(), .share = field.at("share").number(0, 1)};
  for (std::size_t i = 0; i < kNumTraits; ++i) { taste.worth[i] = read_trait(field, i); }
  return taste;
}

}  // namespace

SlotTime seen_from(std::string_view today, std::string_view date,
                   const dispatch::TimeWindow& window) {
  constexpr double kHour = 3600;
  constexpr double kDayEnd = 24;
  constexpr std::int64_t kFarOff = 60;
  const std::int64_t ahead = (day_of(date) - day_of(today)).count();
  return {.day = static_cast<std::int32_t>(std::clamp<std::int64_t>(ahead, 0, kFarOff)),
          .from = static_cast<double>(window.earliest) / kHour,
          .to = std::min(static_cast<double>(window.latest) / kHour, 2 * kDayEnd)};
}

Traits traits_of(const SlotTime& slot) {
  const double middle = (slot.from + slot.to) / 2;
  return {1,
          middle >= kNoon && middle < kEvening ? 1.0 : 0.0,
          middle >= kEvening ? 1.0 : 0.0,
          static_cast<double>(slot.day),
          slot.to - slot.from,
          0};
}

double Taste::utility(const SlotTime& slot, double fee) const {
  const Traits traits = traits_of(slot);
  double sum = worth[kFee] * fee;
  for (std::size_t i = 0; i < kFee; ++i) { sum += worth[i] * traits[i]; }
  return sum;
}

ChoiceModel Tastes::model(std::span<const SlotTime> slots) const {
  std::vector<ChoiceSegment> segments;
  for (const Taste& taste : list) {
    ChoiceSegment& segment = segments.emplace_back(
        ChoiceSegment{.share = taste.share, .beta = std::max(-taste.worth[kFee], kNoFeeEffect)});
    for (std::size_t s = 0; s < slots.size(); ++s) { segment.utility[s] = taste.utility(slots[s]); }
  }
  return {slots.size(), segments};
}

void require_fees(const Tastes& tastes) {
  for (const Taste& taste : tastes.list) {
    if (taste.worth[kFee] < -2 * kNoFeeEffect) { continue; }
    throw UsageError(fmt::format(
        "a policy asks fees, and what a fee does to customers of the taste \"{}\" is not "
        "known: each taste needs a \"fee\" below 0; `penstock booking backtest "
        "--tastes FILE` fits them",
        taste.name));
  }
}

Tastes default_tastes() {
  constexpr double kShare = 0.25;
  const auto taste = [&](const char* name, double any, double afternoon, double evening) {
    return Taste{
        .name = name, .share = kShare, .worth = {any, afternoon, evening, 0, 0, -kNoFeeEffect}};
  };
  return {.list = {taste("any time", 1, 0, 0), taste("mornings", 1.5, -2.5, -2.5),
                   taste("afternoons", -1, 2.5, 0), taste("evenings", -1, 0, 2.5)}};
}

Tastes read_tastes(std::string_view text, const std::string& name) {
  const Json json = try_parse_json(text);
  const JsonField file(json, name);
  file.require_object({"tastes"});
  const JsonField list = file.at("tastes");
  list.require_array(kMaxSegments);
  Tastes tastes;
  double shares = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonField one = list.at(i);
    tastes.list.push_back(read_taste(one));
    shares += tastes.list.back().share;
    tastes.knows_fees = tastes.knows_fees || one.has("fee");
  }
  if (!(shares > 0)) { list.fail("should have a taste whose share is above 0"); }
  return tastes;
}

std::string tastes_text(const Tastes& tastes) {
  Json list = Json::array();
  for (const Taste& taste : tastes.list) {
    Json& one = list.emplace_back(Json{{"name", taste.name}, {"share", taste.share}});
    for (std::size_t i = 0; i < (tastes.knows_fees ? kNumTraits : kFee); ++i) {
      one[kTraitNames[i]] = taste.worth[i];
    }
  }
  return to_text(Json{{"tastes", std::move(list)}}, 1) + "\n";
}

}  // namespace penstock::booking::demand
