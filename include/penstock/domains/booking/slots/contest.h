#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

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
  double seconds = 0;  // of decisions
};

/// A seller's episodes: [episodes].
struct SellerScores {
  std::string name;
  std::vector<SlotScore> episodes;
};

/// One market's comparison: every seller meets the same callers, with the same tastes and whims.
struct SlotContest {
  std::string family;
  std::int64_t customers = 0;
  std::int64_t vehicles = 0;
  std::string versus;
  std::vector<SellerScores> sellers;

  /// A table for people, and one line of JSON: profit and its difference to `versus` on the same
  /// episodes with 95 % intervals, share sold, fee and cost per sale, milliseconds per decision.
  [[nodiscard]] std::string text() const;
  /// `profits`: that of every episode too, so that other pairs can be compared.
  [[nodiscard]] std::string json(bool profits) const;
};

/// Plays episodes 0 .. episodes - 1 of `seed` under every seller. Threads change nothing but times.
SlotContest play_contest(const SlotMarket& market, const std::vector<NamedSeller>& sellers,
                         std::int64_t episodes, std::uint64_t seed, ThreadPool& pool);

}  // namespace penstock::booking
