#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "penstock/domains/booking/demand/log.h"
#include "penstock/domains/booking/demand/menu.h"
#include "penstock/domains/booking/selling/seller.h"

// A log that is lived through again, under some policy.

namespace penstock::booking::demand {

/// A call with all slots that it could have been shown: those of its dates that anybody was.
struct Situation {
  const LoggedCall* call = nullptr;
  std::vector<OfferedSlot> slots;  // the logged menu first
  std::vector<SlotTime> times;
};
/// At most kMaxSlots each; how many slots were left out is counted.
std::vector<Situation> situations_of(const std::vector<LoggedCall>& calls, std::int64_t& left_out);

/// What the plans say of a call.
struct Quoted {
  std::vector<Wares> wares;  // [slots]
  // For a network, where there is a forecast.
  std::vector<selling::PlanView> plans;
  std::vector<selling::SlotPlace> places;  // [slots]
};

/// Plans that grow by calls.
class Replay {
 public:
  Replay(const dispatch::Problem& fleet, const selling::Forecast* forecast)
      : fleet_(fleet), forecast_(forecast) {}

  /// What the slots would cost now, and leave.
  Quoted quote(const Situation& at);
  /// False when it does not fit.
  bool book(const LoggedCall& call, const OfferedSlot& slot);
  /// Searches for better routes in plans that have changed.
  void end_day(std::int64_t improve, std::uint64_t seed);
  [[nodiscard]] double cost() const;
  [[nodiscard]] double km() const;

 private:
  dispatch::Schedule& plan(const std::string& date);

  const dispatch::Problem& fleet_;
  const selling::Forecast* forecast_;                // may be none
  std::map<std::string, dispatch::Schedule> plans_;  // by date
  std::map<std::string, bool> changed_;
};

enum class Policy { logged, first_come, insertion, posterior, trained };
/// "logged", "first-come", ...; static memory.
const char* name_of(Policy policy);

/// Fees of what a network shows; kWithheld for the rest.
std::vector<double> shown_by(selling::Seller& seller, const selling::Forecast& forecast,
                             const Situation& at, const Quoted& quoted, const Tastes& tastes,
                             const SegmentBelief& belief);
/// The same of another policy.
std::vector<double> shown_by(Policy policy, const Situation& at, std::span<const Wares> wares,
                             const Tastes& tastes, const SegmentBelief& belief);

}  // namespace penstock::booking::demand
