#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "penstock/core/base/student.h"
#include "penstock/core/base/thread_pool.h"
#include "penstock/domains/booking/slots/sellers.h"

namespace penstock::booking {

/// A seller by name; one object is made for each worker.
struct NamedSeller {
  std::string name;
  std::function<std::unique_ptr<SlotSeller>()> make;
};

/// What an episode came to, in money.
struct SlotScore {
  double profit = 0;
  double calls = 0;
  double sold = 0;
  double fees = 0;
  double cost = 0;
  double km = 0;
  double seconds = 0;  // of decisions
};

/// A seller's episodes: [episodes].
struct SellerScores {
  std::string name;
  std::vector<SlotScore> episodes;
};

/// A seller's row of a table: means of an episode where nothing else is said.
struct SellerLine {
  std::string name;
  Estimate profit;
  Estimate difference;
  double half = 0;  // standard errors of half a 95 % interval
  double sold = 0;  // share of the calls
  double lost = 0;  // callers who bought nothing
  double fees = 0;
  double km = 0;
  double cost = 0;
  double fee_per_sale = 0;
  double cost_per_sale = 0;
  double decision_ms = 0;
};

/// One market's comparison: every seller meets the same callers, with the same tastes and whims.
struct SlotContest {
  std::string family;
  std::int64_t customers = 0;
  std::int64_t vehicles = 0;
  std::string versus;
  std::vector<SellerScores> sellers;

  [[nodiscard]] std::size_t num_episodes() const { return sellers.at(0).episodes.size(); }
  /// [sellers]; differences are to `versus` on the same episodes.
  [[nodiscard]] std::vector<SellerLine> lines() const;
  /// A table for people, and one line of JSON.
  [[nodiscard]] std::string text() const;
  /// `profits`: that of every episode too, so that other pairs can be compared.
  [[nodiscard]] std::string json(bool profits) const;
};

/// Plays episodes 0 .. episodes - 1 of `seed` under every seller. Threads change nothing but times.
SlotContest play_contest(const SlotMarket& market, const std::vector<NamedSeller>& sellers,
                         std::int64_t episodes, std::uint64_t seed, ThreadPool& pool);

/// A call as it was answered.
struct AnsweredCall {
  double arrival = 0;  // share of the horizon
  double hour = 0;     // wished
  double revenue = 0;
  bool has_costs = false;                  // whether the seller asks for costs
  std::array<double, kMaxSlots> fees{};    // kWithheld where it was not offered
  std::array<double, kMaxSlots> costs{};   // that a sale is taken to have
  std::array<double, kMaxSlots> chance{};  // of a sale, as the seller knows it
  std::int32_t choice = kNoPurchase;
};

/// The calls of one episode under a seller.
std::vector<AnsweredCall> answered_calls(const SlotMarket& market, SlotSeller& seller,
                                         std::uint64_t seed);

}  // namespace penstock::booking
