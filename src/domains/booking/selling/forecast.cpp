#include "penstock/domains/booking/selling/forecast.h"

namespace penstock::booking::selling {
namespace {

constexpr double kMostCalls = 1e5;
constexpr double kMostMoney = 1e9;
constexpr double kMostHours = 9000;  // a year
constexpr double kMostSide = 5000;
constexpr double kLeast = 0.01;

}  // namespace

Forecast read_forecast(const JsonField& field) {
  field.require_object(
      {"calls", "revenue", "opens_h", "closes_h", "side_km", "most_fee", "fee_step"});
  Forecast forecast{.calls = field.at("calls").number(1, kMostCalls),
                    .revenue = field.at("revenue").number(0, kMostMoney)};
  const auto read = [&](const char* key, double low, double high, double& into) {
    if (field.has(key)) { into = field.at(key).number(low, high); }
  };
  read("opens_h", 1, kMostHours, forecast.opens_h);
  read("closes_h", -kMostHours, kMostHours, forecast.closes_h);
  read("side_km", kLeast, kMostSide, forecast.side_km);
  read("most_fee", 0, kMostMoney, forecast.most_fee);
  read("fee_step", kLeast, kMostMoney, forecast.fee_step);
  if (forecast.closes_h >= forecast.opens_h) {
    field.fail(R"("closes_h" should be less than "opens_h": hours before the day begins)");
  }
  return forecast;
}

Forecast required_forecast(std::string_view text, const std::string& name) {
  const Json json = try_parse_json(text);
  const JsonField root(json, name);
  if (!json.is_object() || !root.has("forecast")) {
    root.fail(
        "a policy sells by what is expected of a day; add "
        R"("forecast": {"calls": 40, "revenue": 20} with your numbers beside "vehicles")");
  }
  return read_forecast(root.at("forecast"));
}

}  // namespace penstock::booking::selling
