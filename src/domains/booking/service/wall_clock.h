#pragma once
#include <cstdint>
#include <string>

namespace penstock::booking::service {

/// What time it is. Thread-safe.
class WallClock {
 public:
  /// The system's, or the number that a file holds: then whoever writes the file decides when holds
  /// end, as tests and simulations do.
  explicit WallClock(std::string file = "") : file_(std::move(file)) {}

  /// Milliseconds since 1970. Throws IoError or DataError when the file does not tell it.
  [[nodiscard]] std::int64_t now_ms() const;

 private:
  std::string file_;
};

/// "YYYY-MM-DD", by Greenwich.
std::string date_of(std::int64_t ms);
/// When a day that there is, "YYYY-MM-DD", begins there.
std::int64_t begin_of(const std::string& date);

}  // namespace penstock::booking::service
