#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "penstock/core/base/json_value.h"
#include "penstock/domains/booking/demand/taste.h"
#include "penstock/domains/booking/service/store.h"

namespace penstock::booking::service {

/// What is thought of a customer, by what was answered.
struct Belief {
  SegmentBelief tastes{};    // by their number
  std::int32_t answers = 0;  // that it is made of
  std::int32_t taken = 0;    // of these
};

/// Beliefs about customers: by Bayes' rule from what each was shown and took, which the store has.
/// Thread-safe.
class Customers {
 public:
  /// A file of tastes, or none. Throws DataError.
  Customers(const std::string& file, Store& store);

  [[nodiscard]] const demand::Tastes& tastes() const { return tastes_; }
  /// What is thought of anybody when the name is empty, or nothing was answered.
  Belief belief(const std::string& customer);
  /// The customer has answered again.
  void forget(const std::string& customer);
  /// {"customer", "answers", "taken", "tastes": {name: chance}}
  Json tell(const std::string& customer);

 private:
  Belief read(const std::string& customer);

  demand::Tastes tastes_;
  SegmentBelief prior_{};
  Store& store_;
  std::mutex mutex_;
  std::map<std::string, Belief> known_;
};

/// Chances by the name of a taste.
Json tell_tastes(const demand::Tastes& tastes, const SegmentBelief& belief);

}  // namespace penstock::booking::service
