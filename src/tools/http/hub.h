#pragma once
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>

#include "tools/http/metrics.h"
#include "tools/http/routes.h"
#include "tools/http/workers.h"

namespace penstock::http {

class Connection;
using Clock = std::chrono::steady_clock;
using Connections = std::list<std::shared_ptr<Connection>>;

/// A moment so many seconds from now.
inline Clock::time_point in_seconds(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// What the connections of a server share, and the bounds that hold for all of them together.
/// Everything happens on the event thread.
class Hub {
 public:
  explicit Hub(const Limits& limits);
  ~Hub();

  boost::asio::io_context& io() { return io_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }
  Routes& routes() { return routes_; }
  Metrics& metrics() { return metrics_; }
  Workers& workers() { return workers_; }
  [[nodiscard]] int port() const { return port_; }
  void set_port(int port) { port_ = port; }
  void set_most_connections(std::size_t most) { limits_.num_connections = most; }
  /// Where bytes are read to, by one connection at a time.
  std::array<char, 65536>& scratch() { return scratch_; }
  [[nodiscard]] bool draining() const { return draining_; }
  [[nodiscard]] bool empty() const { return connections_.empty(); }
  [[nodiscard]] Metrics::Gauges gauges() const;

  /// A new peer. When there are too many, whoever did not move on for longest makes way.
  void admit(boost::asio::ip::tcp::socket socket);
  /// Closes that one; false when all wait for answers.
  bool evict_one();
  /// Called by connections: one begins a request or an answer, is closed, holds other bytes than
  /// before.
  void moved_on(Connections::iterator connection);
  void closed(Connections::iterator connection);
  void hold(std::size_t bytes, std::size_t before);

  /// Ends what has taken too long.
  void expire();
  /// From now on connections end with the request that they are at.
  void drain();
  /// The end of that time: whoever still waits is told so.
  void give_up();

 private:
  void each(const std::function<void(Connection&)>& visit);
  void make_room();

  boost::asio::io_context io_{1};
  Limits limits_;
  int port_ = 0;
  Routes routes_;
  Metrics metrics_;
  Connections connections_;  // in the order in which they last moved on
  std::size_t held_bytes_ = 0;
  bool draining_ = false;
  std::array<char, 65536> scratch_{};
  Workers workers_;  // ends first
};

}  // namespace penstock::http
