#pragma once
#include <mutex>
#include <string>

#include "domains/booking/service/call.h"
#include "penstock/domains/booking/dispatch/files.h"

namespace penstock::booking::service {

/// The vehicles of a depot, on any day. Thread-safe.
class Fleet {
 public:
  /// Reads a dispatch file without tasks and dates. Throws DataError.
  explicit Fleet(const std::string& file);

  [[nodiscard]] const dispatch::Problem& problem() const { return problem_; }
  /// Throws DataError that names the field.
  [[nodiscard]] dispatch::Request read(const Wish& wish) const;

 private:
  dispatch::Problem problem_;
  mutable std::mutex mutex_;
  mutable dispatch::Problem scratch_;  // reading writes down skills that no vehicle has
};

}  // namespace penstock::booking::service
