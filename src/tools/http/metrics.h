#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "penstock/core/base/stopwatch.h"

namespace penstock::http {

/// What a server has done so far, and the text that Prometheus reads. One thread at a time.
class Metrics {
 public:
  std::uint64_t accepted = 0;  // connections
  std::uint64_t evicted = 0;   // of them, to make room
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_bytes = 0;

  /// What is so now.
  struct Gauges {
    std::size_t open = 0;        // connections
    std::size_t waiting = 0;     // requests for a worker
    std::size_t running = 0;     // requests on a worker
    std::size_t held_bytes = 0;  // bodies and answers
  };

  /// Counts an answer. Paths must be few: those of the routes, and one for all others. The time is
  /// that from the last byte of the request to the last of the answer; requests that were refused
  /// while they came are counted without one.
  void count(const std::string& path, int status);
  void count(const std::string& path, int status, double seconds);

  [[nodiscard]] std::string text(const Gauges& now) const;

 private:
  static constexpr std::array<double, 12> kBounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                     0.05,   0.1,   0.25,   1,     2.5,  10};
  struct Latency {
    std::array<std::uint64_t, kBounds.size()> below{};  // each bound, cumulative
    std::uint64_t count = 0;
    double seconds = 0;
  };

  std::map<std::pair<std::string, int>, std::uint64_t> answers_;  // by path and status
  std::map<std::string, Latency> latency_;                        // by path
  Stopwatch up_;
};

}  // namespace penstock::http
