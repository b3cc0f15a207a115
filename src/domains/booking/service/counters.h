#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace penstock::booking::service {

/// What was answered, and how long the store took. Thread-safe.
class Counters {
 public:
  void count(const std::string& verb, int status);
  void count_write(double seconds);
  /// As Prometheus reads it.
  [[nodiscard]] std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> calls_;
  std::uint64_t writes_ = 0;
  double write_seconds_ = 0;
};

}  // namespace penstock::booking::service
