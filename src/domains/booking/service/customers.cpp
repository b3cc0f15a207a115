#include "domains/booking/service/customers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "domains/booking/service/call.h"
#include "penstock/core/base/text_file.h"

namespace penstock::booking::service {
namespace {

/// Older answers count no more: people change, and a belief must not take long to read.
constexpr std::int32_t kMostAnswers = 100;
constexpr std::size_t kMostKnown = 100'000;

demand::Tastes load_tastes(const std::string& file) {
  constexpr std::size_t kMostTasteBytes = 1'000'000;
  if (file.empty()) { return demand::default_tastes(); }
  return demand::read_tastes(read_text(file, kMostTasteBytes), file);
}

/// One answer of the store.
void learn(const demand::Tastes& tastes, const std::string& text, Belief& belief) {
  const std::string document = "the store: an answer";
  const Json json = parse_json(text);
  const JsonField field(json, document);
  const std::vector<Slot> slots = read_slots(field.at("offered"));
  const std::int32_t taken =
      field.at("taken").integer(kNoPurchase, static_cast<std::int32_t>(slots.size()) - 1);
  ++belief.answers;
  belief.taken += taken == kNoPurchase ? 0 : 1;
  if (slots.empty()) { return; }  // a no to nothing says nothing
  std::array<double, kMaxSlots> fees{};
  std::vector<SlotTime> times;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    fees[i] = slots[i].fee;
    times.push_back(demand::seen_from(field.at("today").text(), slots[i].date, slots[i].window));
  }
  tastes.model(times).update(belief.tastes, fees, taken);
}

}  // namespace

Customers::Customers(const std::string& file, Store& store)
    : tastes_(load_tastes(file)), store_(store) {
  const SlotTime any;
  prior_ = tastes_.model(std::span(&any, 1)).prior();
}

Belief Customers::read(const std::string& customer) {
  Belief belief{.tastes = prior_};
  for (const std::string& text : store_.choices(customer, kMostAnswers)) {
    learn(tastes_, text, belief);
  }
  return belief;
}

// The lock is held while the store is read, so that no answer of meanwhile is missed.
Belief Customers::belief(const std::string& customer) {
  if (customer.empty()) { return {.tastes = prior_}; }
  if (store_.shared()) { return read(customer); }  // others write, too
  const std::lock_guard lock(mutex_);
  if (const auto found = known_.find(customer); found != known_.end()) { return found->second; }
  if (known_.size() >= kMostKnown) { known_.clear(); }
  return known_[customer] = read(customer);
}

void Customers::forget(const std::string& customer) {
  const std::lock_guard lock(mutex_);
  known_.erase(customer);
}

Json Customers::tell(const std::string& customer) {
  const Belief now = belief(customer);
  return {{"customer", customer},
          {"answers", now.answers},
          {"taken", now.taken},
          {"tastes", tell_tastes(tastes_, now.tastes)}};
}

Json tell_tastes(const demand::Tastes& tastes, const SegmentBelief& belief) {
  constexpr double kDigits = 1e4;
  Json told = Json::object();
  for (std::size_t k = 0; k < tastes.list.size(); ++k) {
    told[tastes.list[k].name] = std::round(belief[k] * kDigits) / kDigits;
  }
  return told;
}

}  // namespace penstock::booking::service
