#include "tools/http/hub.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tools/http/connection.h"

namespace penstock::http {

Hub::Hub(const Limits& limits)
    : limits_(limits), workers_(limits.num_workers, limits.num_waiting) {}

Hub::~Hub() {
  each([](Connection& connection) { connection.close(); });
}

Metrics::Gauges Hub::gauges() const {
  return {.open = connections_.size(),
          .waiting = workers_.num_waiting(),
          .running = workers_.num_running(),
          .held_bytes = held_bytes_};
}

void Hub::admit(boost::asio::ip::tcp::socket socket) {
  ++metrics_.accepted;
  if (connections_.size() >= limits_.num_connections && !evict_one()) { return; }
  connections_.push_back(std::make_shared<Connection>(std::move(socket), *this));
  connections_.back()->start(std::prev(connections_.end()));
}

bool Hub::evict_one() {
  const auto found =
      std::find_if(connections_.begin(), connections_.end(),
                   [](const auto& connection) { return !connection->waits_for_answer(); });
  if (found == connections_.end()) { return false; }
  ++metrics_.evicted;
  // A copy: what follows takes it out of connections_.
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
  const std::shared_ptr<Connection> kept = *found;
  kept->close();
  return true;
}

void Hub::moved_on(Connections::iterator connection) {
  connections_.splice(connections_.end(), connections_, connection);
}

void Hub::closed(Connections::iterator connection) { connections_.erase(connection); }

void Hub::hold(std::size_t bytes, std::size_t before) {
  held_bytes_ += bytes - before;
  if (bytes > before) { make_room(); }
}

/// Senders of this machine take milliseconds: who has been at it for longest is the one to doubt.
void Hub::make_room() {
  while (held_bytes_ > limits_.held_bytes) {
    const auto found =
        std::find_if(connections_.begin(), connections_.end(),
                     [](const auto& connection) { return connection->can_let_go(); });
    if (found == connections_.end()) { return; }  // all of it is waiting for workers
    ++metrics_.evicted;
    // A copy: what follows takes it out of connections_.
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
    const std::shared_ptr<Connection> kept = *found;
    kept->let_go();
  }
}

void Hub::expire() {
  const Clock::time_point now = Clock::now();
  each([&](Connection& connection) { connection.expire(now); });
}

void Hub::drain() {
  draining_ = true;
  each([](Connection& connection) { connection.drain(); });
}

void Hub::give_up() {
  workers_.drop_waiting();
  each([](Connection& connection) { connection.give_up(); });
}

void Hub::each(const std::function<void(Connection&)>& visit) {
  const std::vector<std::shared_ptr<Connection>> all(connections_.begin(), connections_.end());
  for (const auto& connection : all) { visit(*connection); }  // which may close any of them
}

}  // namespace penstock::http
