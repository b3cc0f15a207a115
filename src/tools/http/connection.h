#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "tools/http/hub.h"
#include "tools/http/request_reader.h"

namespace penstock::http {

/// One peer: reads a request, has it answered, and begins again. Requests that come at once are
/// answered in turn. Event thread only; alive while the hub lists it or the system owes it an
/// event.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(boost::asio::ip::tcp::socket socket, Hub& hub);

  void start(Connections::iterator listed);
  void close();
  /// Whether a request is complete and its answer not yet sent.
  [[nodiscard]] bool waits_for_answer() const {
    return phase_ == Phase::working || phase_ == Phase::writing;
  }
  /// Whether it holds bytes that no worker needs; and drops them, telling the peer if it can.
  [[nodiscard]] bool can_let_go() const;
  void let_go();

  /// What the clock, and the end of the server, ask of it; see Hub.
  void expire(Clock::time_point now);
  void drain();
  void give_up();

 private:
  enum class Phase { idle, receiving, working, writing, lingering, closed };

  void become(Phase phase, double seconds);
  void wait();
  void on_readable();
  void receive(std::size_t count);
  void begin();
  void parse();
  bool read_pending();
  bool accept_head();
  void dispatch();
  void send_to_worker(const Route& route);
  void refuse(Response response);
  void write(Response response);
  void on_written(bool failed, std::size_t sent);
  void next();
  void rest();
  void linger();
  void hold(std::size_t bytes);

  boost::asio::ip::tcp::socket socket_;
  Hub& hub_;
  Connections::iterator listed_;
  Phase phase_ = Phase::idle;
  Clock::time_point deadline_;             // of the phase
  bool waiting_ = false;                   // for the system to say that there are bytes
  std::string pending_;                    // received, not yet read
  std::unique_ptr<RequestReader> reader_;  // of the request that comes
  const Route* route_ = nullptr;           // its route
  bool head_seen_ = false;
  Clock::time_point received_;  // its last byte
  bool headless_ = false;       // HEAD: only the head of the answer is sent
  bool refused_ = false;        // the peer may still be sending
  bool keep_ = true;            // the connection, after this answer
  int status_ = 0;              // of the answer
  std::string head_;
  std::string body_;
  std::size_t held_bytes_ = 0;  // as the hub knows them
};

}  // namespace penstock::http
