// Any bytes are either refused with a DataError or a call of the booking service, whose parts are
// stored and read back equal; or the forecast of a fleet. The first byte chooses which.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "domains/booking/service/call.h"
#include "mutate.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/selling/forecast.h"

namespace {

using namespace penstock;
using namespace penstock::booking::service;

void check(bool kept) {
  if (!kept) { std::abort(); }
}

void check_wish(const Wish& wish) {
  const Wish again = read_wish(wish_text(wish));
  check(again.task == wish.task && again.id == wish.id && again.is_job == wish.is_job &&
        again.slot_stop == wish.slot_stop);
}

void check_slots(const std::vector<Slot>& slots) {
  const std::string name = "slots";
  const Json json = parse_json(to_text(slots_json(slots)));
  const std::vector<Slot> again = read_slots(booking::JsonField(json, name));
  check(again.size() == slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    check(again[i].date == slots[i].date && again[i].window == slots[i].window &&
          again[i].fee == slots[i].fee);
  }
}

void check_call(const ChangeCall& call) {
  if (call.wish) { check_wish(*call.wish); }
  if (!call.showing) { return; }
  check(is_customer(call.showing->customer));
  check_slots(call.showing->slots);
}

}  // namespace

FUZZ_TEXT_MUTATOR

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::array<std::string, 8> kVerbs = {"quote", "hold",    "commit",   "cancel",
                                                    "move",  "decline", "progress", "forecast"};
  if (size == 0) { return 0; }
  const std::string& verb = kVerbs[data[0] % kVerbs.size()];
  const std::string body(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (verb == "forecast") {
      const auto forecast = booking::selling::required_forecast(body, "fleet.json");
      check(forecast.calls >= 1 && forecast.opens_h > forecast.closes_h && forecast.fee_step > 0);
    } else if (verb == "quote") {
      const QuoteCall call = read_quote(body);
      check_wish(call.wish);
      if (call.slots.size() <= 100) { check_slots(call.slots); }
    } else {
      check_call(read_change(verb, body));
    }
  } catch (const DataError&) {
    return 0;  // any other exception is a crash
  }
  return 0;
}
