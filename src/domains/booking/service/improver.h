#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>

#include "domains/booking/service/plans.h"
#include "domains/booking/service/price_errors.h"

namespace penstock::booking::service {

/// Searches for better routes between the calls, on a thread that gives way to all others. Works on
/// copies: no call waits for it, and a result whose plan has changed meanwhile is thrown away.
class Improver {
 public:
  /// `rounds` of search follow each change of a plan.
  Improver(Store& store, std::int64_t rounds, PriceErrors& errors);
  Improver(const Improver&) = delete;
  Improver& operator=(const Improver&) = delete;
  ~Improver();

  /// The plan has changed. Thread-safe.
  void want(Plan& plan);
  /// How often routes became better.
  [[nodiscard]] std::uint64_t num_improved() const { return num_improved_; }

 private:
  void work();
  void improve(Plan& plan, std::int64_t round);
  void keep(Plan& plan, dispatch::Schedule better);
  void settle(Plan& plan);

  Store& store_;
  PriceErrors& errors_;
  const std::int64_t rounds_;
  std::atomic<std::uint64_t> num_improved_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Plan*, std::int64_t> wanted_;  // rounds that are left
  bool over_ = false;
  std::thread thread_;
};

}  // namespace penstock::booking::service
