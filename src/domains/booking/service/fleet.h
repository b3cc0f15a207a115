#pragma once
#include <mutex>
#include <optional>
#include <string>

#include "domains/booking/service/call.h"
#include "penstock/domains/booking/dispatch/files.h"
#include "penstock/domains/booking/selling/forecast.h"

namespace penstock::booking::service {

/// The vehicles of a depot, on any day. Thread-safe.
class Fleet {
 public:
  /// Reads a dispatch file without tasks and dates. With `forecast` it must have one. Throws
  /// DataError.
  Fleet(const std::string& file, bool forecast);

  [[nodiscard]] const dispatch::Problem& problem() const { return problem_; }
  /// What sells by a network wants to know; nothing where no network does.
  [[nodiscard]] const std::optional<selling::Forecast>& forecast() const { return forecast_; }
  /// Throws DataError that names the field.
  [[nodiscard]] dispatch::Request read(const Wish& wish) const;

 private:
  dispatch::Problem problem_;
  std::optional<selling::Forecast> forecast_;
  mutable std::mutex mutex_;
  mutable dispatch::Problem scratch_;  // reading writes down skills that no vehicle has
};

}  // namespace penstock::booking::service
