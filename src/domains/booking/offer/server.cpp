#include "penstock/domains/booking/offer/server.h"

#include <fmt/format.h>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/json.h"

#ifdef PENSTOCK_HTTP
#include <httplib.h>

#include <csignal>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#endif

namespace penstock::booking {

#ifdef PENSTOCK_HTTP
namespace {

constexpr std::size_t kMostBytes = 64'000'000;
constexpr std::size_t kThreads = 4;

void set_routes(httplib::Server& server,
                const std::function<std::string(const std::string&)>& answer, std::mutex& turn) {
  server.Get("/health", [](const httplib::Request&, httplib::Response& reply) {
    reply.set_content("ok\n", "text/plain");
  });
  server.Post("/offer", [&](const httplib::Request& request, httplib::Response& reply) {
    try {
      const std::lock_guard lock(turn);
      reply.set_content(answer(request.body) + "\n", "application/json");
    } catch (const Error& error) {
      reply.status = 400;
      const nlohmann::json told = {{"error", error.what()}};
      reply.set_content(to_text(told, -1, BadUtf8::replace) + "\n", "application/json");
    }
  });
}

/// Without the library's SO_REUSEPORT, by which a second server would share the port unnoticed.
void own_port(socket_t socket) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

/// SIGINT and SIGTERM wait for sigwait() in this thread and those that it starts.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    sigaddset(&held_, SIGINT);
    sigaddset(&held_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &held_, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  void wait() const {
    int signal = 0;
    sigwait(&held_, &signal);
  }

 private:
  sigset_t held_{};
  sigset_t before_{};
};

}  // namespace

void serve_offers(int port, const std::function<std::string(const std::string&)>& answer,
                  const std::function<void(int)>& ready) {
  const HeldSignals signals;
  httplib::Server server;
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server.set_socket_options(own_port);
  server.set_payload_max_length(kMostBytes);
  std::mutex turn;
  set_routes(server, answer, turn);
  constexpr const char* kLoopback = "127.0.0.1";
  if (port == 0) {
    port = server.bind_to_any_port(kLoopback);
  } else if (!server.bind_to_port(kLoopback, port)) {
    port = -1;
  }
  if (port < 0) {
    throw IoError("--serve: the port is taken or not ours to use; try another, or 0");
  }
  std::thread listener([&] { server.listen_after_bind(); });
  ready(port);
  signals.wait();
  server.stop();
  listener.join();
}

#else

void serve_offers(int /*port*/, const std::function<std::string(const std::string&)>& /*answer*/,
                  const std::function<void(int)>& /*ready*/) {
  throw UsageError(
      "--serve: this build has no HTTP library; install libcpp-httplib-dev and configure with "
      "-DPENSTOCK_HTTP=ON, or hand over the query as a file or on stdin");
}

#endif

}  // namespace penstock::booking
