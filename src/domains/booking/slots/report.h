#pragma once
#include <string>
#include <vector>

#include "penstock/domains/booking/slots/contest.h"

namespace penstock::booking {

/// One episode, call by call.
struct ShownEpisode {
  std::string seller;
  std::string market;
  std::vector<SlotTime> slots;
  std::vector<AnsweredCall> calls;
};

/// A page: what each seller earns, with its interval, what it sells, loses and drives; and one
/// episode with the price of each slot beside what a sale there is taken to cost.
std::string slots_page(const std::vector<SlotContest>& contests, const ShownEpisode& shown);

}  // namespace penstock::booking
