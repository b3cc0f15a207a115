#include "penstock/tools/http/server.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <utility>

#include "penstock/core/base/errors.h"
#include "tools/http/hub.h"

namespace penstock::http {
namespace {

namespace asio = boost::asio;
using Code = boost::system::error_code;
using asio::ip::tcp;

constexpr double kSweepS = 0.1;     // how late a deadline may be noticed
constexpr double kFarewellS = 0.3;  // for the last answers to leave

/// As many connections as wanted, or as the system grants descriptors for: the soft limit, which is
/// 1024 on most machines, is raised.
std::size_t grant_connections(std::size_t wanted) {
  constexpr std::size_t kOthers = 64;  // files and pipes of the program
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) { return wanted; }
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, wanted + kOthers));
  setrlimit(RLIMIT_NOFILE, &limit);
  return std::min(wanted, std::max(limit.rlim_cur, kOthers + 1) - kOthers);
}

/// Puts a signal's handler back. asio would leave the system's default.
class KeptHandler {
 public:
  explicit KeptHandler(int signal) : signal_(signal) { sigaction(signal, nullptr, &before_); }
  KeptHandler(const KeptHandler&) = delete;
  KeptHandler& operator=(const KeptHandler&) = delete;
  ~KeptHandler() { sigaction(signal_, &before_, nullptr); }

 private:
  int signal_;
  struct sigaction before_ {};
};

}  // namespace

/// Accepts connections, keeps the time and ends it all.
class Server::Core {
 public:
  explicit Core(const Limits& limits)
      : hub_(limits), acceptor_(hub_.io()), sweep_(hub_.io()), sweep_s_(sweep_period(limits)) {
    add({"GET", "/metrics", [this](const Request&) { return tell_metrics(); }, true});
  }

  void add(Route route) { hub_.routes().add(std::move(route)); }
  void tell_metrics_of(std::function<std::string()> more) { more_metrics_ = std::move(more); }

  int listen(int port) {
    const tcp::endpoint loopback(asio::ip::address_v4::loopback(), port);
    try {
      acceptor_.open(loopback.protocol());
      // Not SO_REUSEPORT, by which a second server would share the port unnoticed.
      acceptor_.set_option(tcp::acceptor::reuse_address(true));
      acceptor_.bind(loopback);
      acceptor_.listen();
    } catch (const boost::system::system_error& error) {
      throw IoError(fmt::format(
          "port {}: the port is taken or not ours to use ({}); try another, or 0 for any", port,
          error.code().message()));
    }
    acceptor_.non_blocking(true);
    hub_.set_most_connections(grant_connections(hub_.limits().num_connections));
    hub_.set_port(acceptor_.local_endpoint().port());
    return hub_.port();
  }

  bool run() {
    accept();
    sweep();
    hub_.io().run();
    return hub_.workers().num_running() == 0;
  }

  bool run_until_signal() {
    const KeptHandler interrupt(SIGINT);
    const KeptHandler terminate(SIGTERM);
    asio::signal_set signals(hub_.io(), SIGINT, SIGTERM);
    signals.async_wait([this](const Code& code, int /*signal*/) {
      if (!code) { begin_drain(); }
    });
    return run();
  }

  void stop() {
    asio::post(hub_.io(), [this] { begin_drain(); });
  }

 private:
  static double sweep_period(const Limits& limits) {
    return std::min({kSweepS, limits.request_s / 4, limits.work_s / 4, limits.drain_s / 8});
  }

  Response tell_metrics() {
    return {.body = hub_.metrics().text(hub_.gauges()) + (more_metrics_ ? more_metrics_() : ""),
            .content_type = "text/plain; version=0.0.4; charset=utf-8"};
  }

  void accept() {
    accepting_ = true;
    acceptor_.async_accept([this](const Code& code, tcp::socket socket) {
      accepting_ = false;
      if (code == asio::error::operation_aborted) { return; }
      if (!code) { hub_.admit(std::move(socket)); }
      // Without descriptors accepting would fail again at once: the sweep tries again.
      if (code == asio::error::no_descriptors) {
        hub_.evict_one();
      } else {
        accept();
      }
    });
  }

  void sweep() {
    hub_.expire();
    if (draining()) {
      if (drained()) { return hub_.io().stop(); }
    } else if (!accepting_) {
      accept();
    }
    sweep_.expires_at(in_seconds(sweep_s_));
    sweep_.async_wait([this](const Code& code) {
      if (!code) { sweep(); }
    });
  }

  [[nodiscard]] bool draining() const { return hub_.draining(); }

  void begin_drain() {
    if (draining()) { return; }
    Code code;
    while (!code) {  // who connected before the end is served
      tcp::socket socket = acceptor_.accept(code);
      if (!code) { hub_.admit(std::move(socket)); }
    }
    acceptor_.close(code);
    hub_.drain();
    end_ = in_seconds(hub_.limits().drain_s);
  }

  /// Whether all is done, or the time for it over.
  bool drained() {
    const Metrics::Gauges now = hub_.gauges();
    if (now.open + now.waiting + now.running == 0) { return true; }
    if (Clock::now() < end_) { return false; }
    if (std::exchange(gave_up_, true)) { return true; }
    hub_.give_up();
    end_ = in_seconds(kFarewellS);
    return false;
  }

  Hub hub_;
  tcp::acceptor acceptor_;
  asio::steady_timer sweep_;
  double sweep_s_;
  bool accepting_ = false;
  bool gave_up_ = false;
  std::function<std::string()> more_metrics_;
  Clock::time_point end_;
};

Server::Server(const Limits& limits) : core_(std::make_unique<Core>(limits)) {}
Server::~Server() = default;

void Server::answer_at_once(std::string method, std::string path, Handler handler) {
  core_->add({std::move(method), std::move(path), std::move(handler), true});
}

void Server::answer_by_worker(std::string method, std::string path, Handler handler) {
  core_->add({std::move(method), std::move(path), std::move(handler), false});
}

void Server::tell_metrics_of(std::function<std::string()> more) {
  core_->tell_metrics_of(std::move(more));
}

int Server::listen(int port) { return core_->listen(port); }
bool Server::run() { return core_->run(); }
bool Server::run_until_signal() { return core_->run_until_signal(); }
void Server::stop() { core_->stop(); }

}  // namespace penstock::http
