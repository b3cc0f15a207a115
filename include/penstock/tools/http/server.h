#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "penstock/tools/http/message.h"

namespace penstock::http {

/// What a server grants to strangers. Each bound holds by itself, so memory is bounded as well.
struct Limits {
  std::size_t body_bytes = 8'000'000;  // of one request, however it is sent: else 413
  std::size_t held_bytes =
      64'000'000;                     // of bodies and answers together: the oldest sender makes way
  std::size_t header_bytes = 16'384;  // the first line included: else 431
  std::size_t num_headers = 100;      // else 431
  std::size_t num_connections = 4096;  // or the descriptors there are: the longest silent makes way
  std::size_t num_workers = 2;         // threads for handlers that take long
  std::size_t num_waiting = 1024;      // requests for them: else 503 with Retry-After
  double request_s = 10;               // from a request's first byte to its last: else 408
  double work_s = 30;                  // from a request's last byte to its answer: else 503
  double answer_s = 10;                // until the peer has taken the answer
  double idle_s = 300;                 // between requests of a connection
  double linger_s = 2;                 // to read on after a refusal, so that it arrives
  double drain_s = 4;                  // from stop() to the end
};

/// Turns a request into an answer. What it throws becomes status 500.
using Handler = std::function<Response(const Request&)>;

/// An HTTP/1.1 server on the loopback interface, for programs of this machine: requests whose Host
/// or Origin is another are refused. One thread waits for all connections, so that an idle or slow
/// one costs its descriptor and some hundred bytes; handlers that take long run on workers.
/// Every answer with a status of 400 or more is {"error": ...}.
///
/// GET /metrics tells what it does, as Prometheus reads it. HEAD is answered as GET.
///
/// Routes and listen() come before run(); stop() may be called by any thread.
class Server {
 public:
  explicit Server(const Limits& limits = {});
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  /// Waits for handlers that still run.
  ~Server();

  // A path may have {id} for one of its parts: any text without a slash, see Request::id.

  /// A handler that answers at once, on the thread of all connections.
  void answer_at_once(std::string method, std::string path, Handler handler);
  /// A handler that takes long, on a worker; as many at a time as there are workers. After
  /// Limits::work_s the peer is told 503, a request that still waits is dropped, and
  /// check_deadline() ends the work of a handler that asks it; another goes on for nobody.
  void answer_by_worker(std::string method, std::string path, Handler handler);
  /// What /metrics tells beside the server's own, in the same format. Called on the thread of all
  /// connections: must not take long.
  void tell_metrics_of(std::function<std::string()> more);

  /// Takes a port of 127.0.0.1, 0 for any free one, and returns it. Throws IoError when it is taken
  /// or not ours to use. Peers may connect from now on.
  int listen(int port);
  /// Answers until stop(). Then takes no new connections, answers the requests that have begun and
  /// returns, after Limits::drain_s at most: false when a handler still runs, whose peer has been
  /// told 503.
  bool run();
  /// As run(), until SIGINT or SIGTERM, whose handlers are as before when it returns.
  bool run_until_signal();
  /// Makes run() end. Thread-safe; also before run().
  void stop();

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace penstock::http
