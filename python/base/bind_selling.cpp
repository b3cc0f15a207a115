#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "penstock/domains/booking/demand/taste.h"
#include "penstock/domains/booking/selling/seller.h"
#include "penstock_docs.h"
#include "text_plan.h"

namespace penstock::python {
namespace {

using namespace booking;
using dispatch::TimeWindow;

/// A call as penstock.booking tells it: JSON, but for the plans.
struct TextCall {
  std::vector<std::pair<TextPlan*, std::int32_t>> plans;  // with their days, after the first
  std::string request;
  std::string slots;  // [{"plan", "window"}]
  std::string tastes;
  std::string forecast;
  std::vector<double> belief;  // by taste; empty: the shares
  double hours_ahead = 0;
  bool of_delivery = false;
};

/// Slots by their plan, in the order in which they were told.
struct AskedSlots {
  std::vector<std::vector<TimeWindow>> windows;  // [plans]
  std::vector<selling::SlotPlace> places;        // [slots]
};

AskedSlots asked_slots(const std::string& text, std::size_t num_plans) {
  const std::string name = "slots";
  const Json json = parse_json(text);
  const JsonField list(json, name);
  list.require_array(kMaxSlots);
  AskedSlots asked{.windows = std::vector<std::vector<TimeWindow>>(num_plans)};
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonField slot = list.at(i);
    const JsonField window = slot.at("window");
    window.require_array(2);
    const std::size_t plan = slot.at("plan").integer(0, static_cast<std::int32_t>(num_plans) - 1);
    asked.places.push_back({.plan = plan, .slot = asked.windows[plan].size()});
    asked.windows[plan].push_back(
        {window.at(std::size_t{0}).time(), window.at(std::size_t{1}).time()});
  }
  return asked;
}

/// A policy of the env `slots` for plans whose problems are texts.
class SlotPolicy {
 public:
  explicit SlotPolicy(const std::string& path) : seller_(path) {}

  std::vector<py::dict> offer(const TextCall& call) {
    const AskedSlots asked = asked_slots(call.slots, call.plans.size());
    const Json json = parse_json(call.forecast);
    const std::string name = "forecast";
    const selling::Forecast forecast = selling::read_forecast(JsonField(json, name));
    const demand::Tastes tastes = demand::read_tastes(call.tastes, "tastes");
    demand::require_fees(tastes);
    std::vector<selling::PlanView> views;
    std::vector<std::vector<dispatch::Quote>> quotes;
    dispatch::Request request;
    for (std::size_t p = 0; p < call.plans.size(); ++p) {
      TextPlan& plan = *call.plans[p].first;
      request = plan.request(call.request);
      quotes.push_back(plan.plan().quote(request, asked.windows[p], call.of_delivery));
      views.push_back(selling::view_of(plan.plan(), request, asked.windows[p], quotes.back(),
                                       call.of_delivery, forecast));
      views.back().day = call.plans[p].second;
    }
    const SlotState state = state_of(call, asked, tastes, request, views, forecast);
    const auto advice = seller_.offer(state);
    std::vector<py::dict> told;
    for (std::size_t s = 0; s < advice.size(); ++s) {
      const selling::SlotPlace& at = asked.places[s];
      told.push_back(call.plans[at.plan].first->told(quotes[at.plan][at.slot]));
      told.back()["show"] = advice[s].show;
      if (!advice[s].show) { continue; }
      told.back()["fee"] = advice[s].fee;
      told.back()["opportunity"] = advice[s].opportunity;
    }
    return told;
  }

 private:
  static SlotState state_of(const TextCall& call, const AskedSlots& asked,
                            const demand::Tastes& tastes, const dispatch::Request& request,
                            const std::vector<selling::PlanView>& views,
                            const selling::Forecast& forecast) {
    constexpr double kDayHours = 24;
    const double days_ahead = std::ceil(std::max(call.hours_ahead, 0.0) / kDayHours);
    std::vector<SlotTime> times;
    for (const selling::SlotPlace& at : asked.places) {
      SlotTime time = views[at.plan].slots[at.slot].time;
      time.day = static_cast<std::int32_t>(days_ahead) + views[at.plan].day;
      times.push_back(time);
    }
    const ChoiceModel model = tastes.model(times);
    SegmentBelief belief = model.prior();
    for (std::size_t k = 0; k < call.belief.size() && k < belief.size(); ++k) {
      belief[k] = call.belief[k];
    }
    const double revenue = static_cast<double>(request.task.revenue) / dispatch::kUnit;
    return selling::state_of({.model = model,
                              .belief = belief,
                              .revenue = revenue == 0 ? forecast.revenue : revenue,
                              .hours_ahead = call.hours_ahead,
                              .ride = request.task.is_shipment},
                             views, asked.places, forecast);
  }

  selling::Seller seller_;
};

}  // namespace

void bind_selling(py::module_& m) {
  py::class_<SlotPolicy>(m, "SlotPolicy", docs::Seller)
      .def(py::init<const std::string&>(), py::arg("path"), docs::Seller_Seller)
      .def(
          "offer",
          [](SlotPolicy& self, std::vector<std::pair<TextPlan*, std::int32_t>> plans,
             std::string request, std::string slots, std::string tastes, std::string forecast,
             std::vector<double> belief, double hours_ahead, bool of_delivery) {
            return self.offer({.plans = std::move(plans),
                               .request = std::move(request),
                               .slots = std::move(slots),
                               .tastes = std::move(tastes),
                               .forecast = std::move(forecast),
                               .belief = std::move(belief),
                               .hours_ahead = hours_ahead,
                               .of_delivery = of_delivery});
          },
          py::arg("plans"), py::arg("request"), py::arg("slots"), py::arg("tastes"),
          py::arg("forecast"), py::arg("belief"), py::arg("hours_ahead"), py::arg("of_delivery"),
          docs::Seller_offer);
}

}  // namespace penstock::python
