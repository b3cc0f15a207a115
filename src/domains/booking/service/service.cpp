#include "penstock/domains/booking/service/service.h"

#include <fmt/format.h>

#include <optional>

#include "domains/booking/service/advice.h"
#include "domains/booking/service/answers_csv.h"
#include "domains/booking/service/counters.h"
#include "domains/booking/service/customers.h"
#include "domains/booking/service/improver.h"
#include "domains/booking/service/wall_clock.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/stopwatch.h"

namespace penstock::booking::service {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::int64_t kKeepAnswersMs = 7 * kDayMs;
constexpr double kHourMs = 3'600'000;

/// Plans are DEPOT.DATE.
std::string date_of_plan(const std::string& id) { return id.substr(id.rfind('.') + 1); }

http::Response respond(int status, const Json& answer) {
  return {.status = status, .body = to_text(answer, -1, BadUtf8::replace) + "\n"};
}

/// The numbers of slots, by the name of their plan: in the order of days.
using SlotsOfPlans = std::map<std::string, std::vector<std::size_t>>;
SlotsOfPlans by_plan(const std::string& id, const std::vector<Slot>& slots) {
  const std::string depot = id.substr(0, id.rfind('.'));
  SlotsOfPlans slots_of;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const std::string& date = slots[i].date;
    slots_of[date.empty() ? id : fmt::format("{}.{}", depot, date)].push_back(i);
  }
  return slots_of;
}

/// What the plans of a call say, one after the other.
struct Quotes {
  std::int64_t now_ms = 0;
  std::vector<Priced> priced;  // [slots]
  std::int64_t first_ms = 0;   // when the first of the days begins
  std::optional<Sale> sale{};
};

/// What the caller did wrong is 400 or 404; what the store did is 503.
template <class Work>
http::Response guarded(const Work& work) {
  try {
    return work();
  } catch (const NoSuchPlan& error) {
    return http::error_response(404, error.what());
  } catch (const IoError& error) {
    return http::error_response(503, error.what());
  } catch (const Error& error) { return http::error_response(400, error.what()); }
}

}  // namespace

struct Service::Parts {
  explicit Parts(const ServiceConfig& config)
      : clock(config.clock),
        store(config.store),
        plans(config.fleets, store, !config.policy.empty()),
        customers(config.tastes, store),
        seller(config.policy.empty() ? nullptr : std::make_unique<selling::Seller>(config.policy)),
        improver(store, config.improve, errors) {
    if (seller) { demand::require_fees(customers.tastes()); }
  }

  Json quote(const std::string& plan, const QuoteCall& call);
  std::int64_t price(const std::string& name, const std::vector<std::size_t>& slots,
                     const QuoteCall& call, Quotes& into);
  http::Response change(Plan& plan, const ChangeCall& call);
  std::optional<http::Response> answered_before(const std::string& plan, const ChangeCall& call);
  bool write(Plan& plan, const ChangeCall& call, const Outcome& outcome, const std::string& body,
             std::int64_t now_ms);

  WallClock clock;
  Store store;
  Plans plans;
  Customers customers;
  std::unique_ptr<selling::Seller> seller;  // may be none
  PriceErrors errors;
  Improver improver;
  Counters counters;
};

Json Service::Parts::quote(const std::string& id, const QuoteCall& call) {
  const Plan& own = plans.open(id);  // there must be one
  const SlotsOfPlans slots_of = by_plan(id, call.slots);
  const std::int64_t now_ms = clock.now_ms();
  Quotes quotes{.now_ms = now_ms, .priced = std::vector<Priced>(call.slots.size())};
  if (seller && !slots_of.empty()) {
    quotes.first_ms = begin_of(date_of_plan(slots_of.begin()->first));
    quotes.sale.emplace(Sale{.seller = *seller,
                             .forecast = *own.fleet.forecast(),
                             .hours_ahead = (quotes.first_ms - now_ms) / kHourMs,
                             .ride = !call.wish.is_job});
    quotes.sale->places.resize(call.slots.size());
  }
  Json versions = Json::object();
  for (const auto& [name, slots] : slots_of) { versions[name] = price(name, slots, call, quotes); }
  Json answer = advise({.slots = call.slots,
                        .date = date_of_plan(id),
                        .today = date_of(now_ms),
                        .tastes = customers.tastes(),
                        .belief = customers.belief(call.customer),
                        .saved = errors.saved(),
                        .sale = quotes.sale ? &*quotes.sale : nullptr},
                       quotes.priced);
  answer["versions"] = std::move(versions);
  return answer;
}

/// Quotes the slots of a plan together. Returns its version.
std::int64_t Service::Parts::price(const std::string& name, const std::vector<std::size_t>& slots,
                                   const QuoteCall& call, Quotes& into) {
  std::vector<TimeWindow> windows;
  for (const std::size_t i : slots) { windows.push_back(call.slots[i].window); }
  Plan& plan = plans.open(name);
  const std::lock_guard lock(plan.mutex);
  plans.refresh(plan);
  Quoted quoted = plan.day.quote(call.wish, windows, into.now_ms);
  for (std::size_t k = 0; k < slots.size(); ++k) {
    into.priced[slots[k]] = std::move(quoted.slots[k]);
  }
  if (into.sale) {
    for (std::size_t k = 0; k < slots.size(); ++k) {
      into.sale->places[slots[k]] = {.plan = into.sale->plans.size(), .slot = k};
    }
    quoted.view.day = (begin_of(date_of_plan(name)) - into.first_ms) / kDayMs;
    into.sale->plans.push_back(std::move(quoted.view));
  }
  return plan.day.version();
}

/// What the same key was told before; 422 when it was another call's.
std::optional<http::Response> Service::Parts::answered_before(const std::string& plan,
                                                              const ChangeCall& call) {
  if (call.key.empty()) { return {}; }
  auto answer = store.answer(plan, call.key);
  if (!answer) { return {}; }
  if (answer->call != call.text) {
    return http::error_response(
        422, fmt::format("key {} was used with another call; take a new key", call.key));
  }
  return http::Response{.status = answer->status, .body = std::move(answer->body)};
}

/// False when another process has written to the plan meanwhile.
bool Service::Parts::write(Plan& plan, const ChangeCall& call, const Outcome& outcome,
                           const std::string& body, std::int64_t now_ms) {
  if (!outcome.changed && !outcome.choice && call.key.empty()) { return true; }
  Change change = plan.day.change_for(outcome, now_ms);
  if (!call.key.empty()) {
    change.answer = {.key = call.key, .call = call.text, .status = outcome.status, .body = body};
  }
  const Stopwatch watch;
  plan.stale = true;  // until the store has told that it has it
  if (!store.write(change)) { return false; }
  plan.stale = false;
  plan.day.written();
  if (outcome.choice) { customers.forget(outcome.choice->customer); }
  counters.count_write(watch.seconds());
  return true;
}

http::Response Service::Parts::change(Plan& plan, const ChangeCall& call) {
  constexpr int kTries = 20;
  const std::lock_guard lock(plan.mutex);
  for (int i = 0; i < kTries; ++i) {
    plans.refresh(plan);
    if (auto before = answered_before(plan.day.id(), call)) { return std::move(*before); }
    const std::int64_t now_ms = clock.now_ms();
    const Outcome outcome = plan.day.apply(call, now_ms);
    http::Response response = respond(outcome.status, outcome.answer);
    if (write(plan, call, outcome, response.body, now_ms)) {
      if (outcome.changed) {
        plan.watch_price(outcome.price);
        improver.want(plan);
      }
      return response;
    }
  }
  return http::error_response(503, "other instances write to this plan all the time; try again");
}

Service::Service(const ServiceConfig& config) : parts_(std::make_unique<Parts>(config)) {
  const std::int64_t now_ms = parts_->clock.now_ms();
  parts_->store.forget_answers(now_ms - kKeepAnswersMs);
  parts_->plans.load_since(date_of(now_ms - kDayMs));
}

Service::~Service() = default;

http::Response Service::quote(const std::string& plan, const std::string& body) {
  http::Response response =
      guarded([&] { return respond(200, parts_->quote(plan, read_quote(body))); });
  parts_->counters.count("quote", response.status);
  return response;
}

http::Response Service::change(const std::string& verb, const std::string& plan,
                               const std::string& body) {
  http::Response response = guarded([&] {
    const ChangeCall call = read_change(verb, body);
    return parts_->change(parts_->plans.open(plan), call);
  });
  parts_->counters.count(verb, response.status);
  return response;
}

http::Response Service::show(const std::string& id) {
  return guarded([&] {
    Plan& plan = parts_->plans.open(id);
    const std::lock_guard lock(plan.mutex);
    parts_->plans.refresh(plan);
    return respond(200, plan.day.show(parts_->clock.now_ms()));
  });
}

http::Response Service::customer(const std::string& id) {
  return guarded([&]() -> http::Response {
    if (!is_customer(id)) { return http::error_response(404, "no such customer"); }
    return respond(200, parts_->customers.tell(id));
  });
}

http::Response Service::answers() {
  constexpr std::int64_t kMostChoices = 50'000;
  return guarded([&]() -> http::Response {
    return {.body = answers_csv(parts_->store.all_choices(kMostChoices)),
            .content_type = "text/csv; charset=utf-8"};
  });
}

http::Response Service::list() {
  return guarded([&] {
    return respond(200, {{"depots", parts_->plans.depots()}, {"plans", parts_->plans.names()}});
  });
}

std::string Service::metrics() const {
  return fmt::format(
      "{}# HELP penstock_booking_plans Plans in memory.\n# TYPE penstock_booking_plans gauge\n"
      "penstock_booking_plans {}\n"
      "# HELP penstock_booking_improved_total Times that a search between calls found better "
      "routes.\n# TYPE penstock_booking_improved_total counter\npenstock_booking_improved_total "
      "{}\n",
      parts_->counters.text(), parts_->plans.size(), parts_->improver.num_improved());
}

}  // namespace penstock::booking::service
