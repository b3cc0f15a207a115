#include "penstock/tools/http/server.h"

#include <doctest/doctest.h>

#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "peer.h"
#include "penstock/core/base/deadline.h"
#include "penstock/core/base/errors.h"

using namespace penstock::http;

namespace {

/// A server with a quick and a slow handler, on a thread of its own.
class Running {
 public:
  explicit Running(const Limits& limits = {}) : server_(limits) {
    server_.answer_at_once("GET", "/quick", [](const Request&) { return Response{.body = "q"}; });
    server_.answer_by_worker("POST", "/echo",
                             [](const Request& request) { return Response{.body = request.body}; });
    server_.answer_by_worker("POST", "/slow", [this](const Request&) {
      open_.wait();
      return Response{.body = "s"};
    });
    server_.answer_by_worker("POST", "/search", [](const Request&) -> Response {
      while (true) { penstock::check_deadline(); }
    });
    server_.answer_by_worker("POST", "/fails", [](const Request&) -> Response {
      throw std::runtime_error("it \xff fails");
    });
    port_ = server_.listen(0);
    thread_ = std::thread([this] { drained_ = server_.run(); });
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    open();
    stop();
  }

  /// Slow handlers go on.
  void open() {
    if (!std::exchange(opened_, true)) { gate_.set_value(); }
  }
  /// Whether all was done in time.
  bool stop() {
    server_.stop();
    return join();
  }
  void begin_to_stop() { server_.stop(); }
  bool join() {
    if (thread_.joinable()) { thread_.join(); }
    return drained_;
  }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] Peer peer() const { return Peer(port_); }
  /// Waits until a line of /metrics is so.
  void wait_for(const std::string& line) const {
    constexpr int kTries = 60'000;
    Peer peer(port_);
    for (int i = 0; i < kTries; ++i) {
      peer.ask("GET", "/metrics");
      if (peer.answer().find(line + "\n") != std::string::npos) { return; }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    FAIL("it never was so: " << line);
  }

 private:
  std::promise<void> gate_;
  std::shared_future<void> open_ = gate_.get_future().share();
  bool opened_ = false;
  bool drained_ = false;
  int port_ = 0;
  Server server_;
  std::thread thread_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("requests are answered in the order in which they came, by worker or at once") {
  Running server;
  Peer peer = server.peer();
  for (int i = 0; i < 10; ++i) {
    peer.ask("POST", "/echo", "hello" + std::to_string(i));
    peer.ask("GET", "/quick");
  }
  for (int i = 0; i < 10; ++i) {
    CHECK(contains(peer.answer(), "\r\n\r\nhello" + std::to_string(i)));
    CHECK(contains(peer.answer(), "\r\n\r\nq"));
  }
  CHECK(server.stop());
}

TEST_CASE("failures of handlers are status 500") {
  Running server;
  Peer peer = server.peer();
  peer.ask("POST", "/fails");
  const std::string answer = peer.answer();
  CHECK(contains(answer, "HTTP/1.1 500 "));
  CHECK(contains(answer, "{\"error\":\"it \xef\xbf\xbd fails\"}"));  // UTF-8 all the same
  peer.ask("POST", "/echo", "on");
  CHECK(contains(peer.answer(), "\r\n\r\non"));
}

TEST_CASE("a port is taken once") {
  Running server;
  Server other;
  CHECK_THROWS_AS(other.listen(server.port()), penstock::IoError);
}

TEST_CASE("when too many wait, the next is told to come again") {
  Running server({.num_workers = 1, .num_waiting = 2});
  std::vector<Peer> askers;
  for (int i = 0; i < 3; ++i) {
    askers.push_back(server.peer());
    askers.back().ask("POST", "/slow");
    server.wait_for(i == 0 ? "requests_running 1" : "requests_waiting " + std::to_string(i));
  }
  Peer late = server.peer();
  late.ask("POST", "/slow");
  const std::string told = late.answer();
  CHECK(contains(told, "HTTP/1.1 503 "));
  CHECK(contains(told, "Retry-After: 1\r\n"));
  late.ask("GET", "/quick");  // the others are not in its way
  CHECK(late.status() == 200);
  server.open();
  for (Peer& asker : askers) { CHECK(asker.status() == 200); }
}

TEST_CASE("a request that does not arrive in time is told so; an idle connection is closed") {
  Running server({.request_s = 0.1, .idle_s = 0.1});
  Peer slow = server.peer();
  slow.send("GET /qu");
  const std::string told = slow.answer();
  CHECK(contains(told, "HTTP/1.1 408 "));
  CHECK(contains(told, "{\"error\":\"the request did not arrive within 0.1 s\"}"));
  CHECK(slow.answer().empty());
  CHECK(server.peer().answer().empty());
}

TEST_CASE(
    "who waits for too long is told so, and work that nobody waits for is not begun or ends") {
  Running server({.num_workers = 1, .work_s = 0.2});
  Peer first = server.peer();
  Peer second = server.peer();
  first.ask("POST", "/slow");
  server.wait_for("requests_running 1");
  second.ask("POST", "/search");
  for (Peer* peer : {&first, &second}) {
    const std::string told = peer->answer();
    CHECK(contains(told, "HTTP/1.1 503 "));
    CHECK(contains(told, "Retry-After: 1\r\n"));
    CHECK(contains(told, "{\"error\":\"no answer within 0.2 s\"}"));
    CHECK(peer->answer().empty());  // closed
  }
  server.open();
  server.wait_for("requests_running 0");
  Peer third = server.peer();
  third.ask("POST", "/search");
  CHECK(third.status() == 503);
  CHECK(server.stop());  // the handler has ended too
}

TEST_CASE("a connection too many closes the one that was silent for longest") {
  Running server({.num_connections = 3});
  Peer first = server.peer();
  Peer second = server.peer();
  for (Peer* peer : {&first, &second, &first}) {
    peer->ask("GET", "/quick");
    CHECK(peer->status() == 200);
  }
  Peer working = server.peer();
  working.ask("POST", "/slow");
  server.wait_for("requests_running 1");  // by a connection of its own, the fourth
  CHECK(second.answer().empty());
  server.open();
  CHECK(working.status() == 200);
  first.ask("GET", "/quick");
  CHECK(first.status() == 200);
}

TEST_CASE("bodies together are bounded: the oldest sender makes way") {
  constexpr std::size_t kBody = 100'000;
  Running server({.body_bytes = kBody, .held_bytes = 250'000});
  std::vector<Peer> slow;
  for (int i = 0; i < 2; ++i) {
    slow.push_back(server.peer());
    slow.back().send("POST /echo HTTP/1.1\r\nHost: localhost:" + std::to_string(server.port()) +
                     "\r\nContent-Length: " + std::to_string(kBody) + "\r\n\r\n" +
                     std::string(kBody - 1, 'x'));
    server.wait_for("held_bytes " + std::to_string((kBody - 1) * (i + 1)));
  }
  Peer quick = server.peer();
  quick.ask("POST", "/echo", std::string(kBody, 'y'));
  CHECK(quick.status() == 200);
  CHECK(slow[0].status() == 503);
  slow[1].send("x");
  CHECK(slow[1].status() == 200);
  server.wait_for("held_bytes 0");
}

TEST_CASE("the end answers what has begun, and waits no longer than it may") {
  SUBCASE("all in time") {
    Running server({.num_workers = 1, .drain_s = 1e6});
    Peer idle = server.peer();
    Peer working = server.peer();
    working.ask("POST", "/slow");
    server.wait_for("requests_running 1");
    Peer waiting = server.peer();
    waiting.ask("POST", "/echo", "w");
    server.wait_for("requests_waiting 1");
    server.begin_to_stop();
    CHECK(idle.answer().empty());
    server.open();
    CHECK(working.status() == 200);
    CHECK(contains(waiting.answer(), "Connection: close\r\n"));
    CHECK(server.join());
  }
  SUBCASE("a handler that does not end") {
    Running server({.num_workers = 1, .drain_s = 0.2});
    Peer working = server.peer();
    working.ask("POST", "/slow");
    server.wait_for("requests_running 1");
    Peer waiting = server.peer();
    waiting.ask("POST", "/slow");
    Peer coming = server.peer();
    coming.send("POST /sl");
    server.wait_for("requests_waiting 1");
    CHECK_FALSE(server.stop());
    CHECK(working.status() == 503);
    CHECK(waiting.status() == 503);
    CHECK(coming.status() == 408);
  }
}

TEST_CASE("stop() before run() and without a connection") {
  Server server;
  server.listen(0);
  server.stop();
  CHECK(server.run());
}
