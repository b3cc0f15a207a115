#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

#include "core/ranks/links.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/text.h"

namespace penstock::detail {
namespace {

// How long an answer is looked for before this thread sleeps: waking takes longer than most answers
// do, and pulls both processes to one core. Others that want the core get it meanwhile.
constexpr std::chrono::microseconds kLooking(500);
// Whoever connects and says nothing is sent away.
constexpr std::chrono::seconds kIntroduction(5);
constexpr std::chrono::milliseconds kPause(2);  // between looks at who has said something

constexpr std::size_t kTokenSize = 32;
using Token = std::array<char, kTokenSize>;

/// What a process says first on a connection.
struct Hello {
  Token token{};
  std::uint64_t rank = 0;
};

Clock::duration seconds(double count) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
}

/// Some of the bytes, as far as it goes now. Moves the span on; false once the other is gone.
template <class Byte, class Call>
bool move_some(std::span<Byte>& bytes, const Call& call) {
  while (!bytes.empty()) {
    const ssize_t count = call(bytes.data(), bytes.size());
    if (count > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else {
      return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }
  }
  return true;
}

/// What goes over one connection at the same time.
struct Exchange {
  std::span<const std::byte> out;
  std::span<std::byte> in;
  [[nodiscard]] bool done() const { return out.empty() && in.empty(); }
  [[nodiscard]] std::size_t left() const { return out.size() + in.size(); }
};

enum class End { done, late, gone };

/// Until all bytes have moved, the other is gone, or nothing has moved for so long.
End run(int fd, Exchange exchange, Clock::duration patience) {
  auto moved = Clock::now();
  for (;;) {
    const std::size_t before = exchange.left();
    errno = 0;
    const bool there = move_some(exchange.out,
                                 [&](const std::byte* data, std::size_t size) {
                                   return send(fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
                                 }) &&
                       move_some(exchange.in, [&](std::byte* data, std::size_t size) {
                         return recv(fd, data, size, MSG_DONTWAIT);
                       });
    if (exchange.done()) { return End::done; }
    if (!there) { return End::gone; }
    const auto now = Clock::now();
    if (exchange.left() < before) {
      moved = now;
    } else if (now - moved > patience) {
      return End::late;
    }
    if (now - moved < kLooking) {
      sched_yield();
      continue;
    }
    const int events = (exchange.out.empty() ? 0 : POLLOUT) | (exchange.in.empty() ? 0 : POLLIN);
    pollfd each{.fd = fd, .events = static_cast<short>(events), .revents = 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(patience - (now - moved));
    poll(&each, 1, static_cast<int>(std::max<std::int64_t>(1, left.count())));
  }
}

class TcpLinks final : public Links {
 public:
  TcpLinks(Launch launch, std::vector<Socket> sockets)
      : launch_(std::move(launch)), sockets_(std::move(sockets)) {}

  void send(std::size_t to, std::span<const std::byte> bytes) override {
    exchange(to, {.out = bytes, .in = {}}, "taken what was sent to it");
  }
  void receive(std::size_t from, std::span<std::byte> bytes) override {
    exchange(from, {.out = {}, .in = bytes}, "answered");
  }
  void swap(std::size_t with, std::span<const std::byte> out, std::span<std::byte> in) override {
    exchange(with, {.out = out, .in = in}, "answered");
  }

 private:
  void exchange(std::size_t other, const Exchange& bytes, const char* awaited) {
    const auto begin = Clock::now();
    const Socket& socket = sockets_.at(other);
    const End end =
        socket.open() ? run(socket.get(), bytes, seconds(launch_.timeout_s)) : End::gone;
    if (end == End::done) { return; }
    const int error = errno;
    const std::chrono::duration<double> waited = Clock::now() - begin;
    // Nothing more is said: the others would take it for what they wait for. They learn of it now.
    for (Socket& each : sockets_) { each = Socket(); }
    throw PeerError(fmt::format(
        "rank {} of {}: rank {} {} ({:.1f} s{}). The run goes on from its last checkpoint: start "
        "all its processes again",
        launch_.rank, launch_.size, other,
        end == End::late ? fmt::format("has not {} in time", awaited) : "is gone", waited.count(),
        end == End::gone && error != 0 ? "; " + system_text(error) : ""));
  }

  Launch launch_;
  std::vector<Socket> sockets_;  // [size], open for those that are linked with this one
};

/// All of it, within the time.
bool exchange_all(const Socket& socket, const Exchange& bytes, Clock::time_point until) {
  return run(socket.get(), bytes, until - Clock::now()) == End::done;
}

/// The connections of one process, while they are being made.
class Meeting {
 public:
  Meeting(const Launch& launch, const Address& own, Board& board)
      : launch_(launch),
        board_(board),
        until_(Clock::now() + seconds(launch.timeout_s)),
        listening_(listen_on(own)),
        sockets_(launch.size) {
    board.put(name_of(launch.rank), address_of(listening_).text());
    agree_on_token();
  }

  /// Those of lower rank are called, those of higher rank call.
  void connect() {
    for (std::size_t other = 0; other < launch_.rank; ++other) {
      if (are_linked(other, launch_.rank)) { call(other); }
    }
    while (!missing().empty()) {
      if (Clock::now() >= until_ || somebody_left()) { fail(); }
      Socket socket = accept_from(listening_, Clock::now() + kPause);
      if (socket.open()) {
        prepare(socket);
        callers_.push_back({.socket = std::move(socket), .since = Clock::now()});
      }
      std::erase_if(callers_, [this](Caller& caller) { return !waits(caller); });
    }
  }

  /// Nobody goes on before all have their connections.
  std::vector<Socket> take_when_all_are_ready() {
    std::byte word{};
    const std::span<std::byte> in(&word, 1);
    const auto with = [&](std::size_t other, const Exchange& bytes) {
      if (!exchange_all(sockets_[other], bytes, until_)) { fail(); }
    };
    if (launch_.rank > 0) {
      with(0, {.out = in, .in = {}});
      with(0, {.out = {}, .in = in});
    } else {
      for (std::size_t other = 1; other < launch_.size; ++other) {
        with(other, {.out = {}, .in = in});
      }
      for (std::size_t other = 1; other < launch_.size; ++other) {
        with(other, {.out = in, .in = {}});
      }
    }
    return std::move(sockets_);
  }

 private:
  /// Who has connected and has not said who it is. There may be strangers among them.
  struct Caller {
    Socket socket;
    Hello hello;
    std::size_t size = 0;  // of what it has said
    Clock::time_point since;
  };

  static std::string name_of(std::size_t rank) { return fmt::format("rank/{}", rank); }

  /// A stranger who finds the port does not know it.
  void agree_on_token() {
    if (launch_.rank == 0) {
      std::random_device random;
      std::string text;
      while (text.size() < kTokenSize) { text += fmt::format("{:08x}", random()); }
      board_.put("token", text);
    }
    const std::string text = board_.take("token");
    std::copy_n(text.begin(), std::min(text.size(), kTokenSize), token_.begin());
  }

  void call(std::size_t other) {
    const Address address = Address::of(board_.take(name_of(other)));
    Socket socket = connect_to(address, until_);
    const Hello hello{token_, launch_.rank};
    if (!socket.open() ||
        !exchange_all(socket, {.out = std::as_bytes(std::span(&hello, 1)), .in = {}}, until_)) {
      fail();
    }
    prepare(socket);
    sockets_[other] = std::move(socket);
  }

  /// Whether it may still say who it is. One that has said so is no caller any more.
  bool waits(Caller& caller) {
    const auto all = std::as_writable_bytes(std::span(&caller.hello, 1));
    std::span<std::byte> rest = all.subspan(caller.size);
    const bool there = move_some(rest, [&](std::byte* data, std::size_t size) {
      return recv(caller.socket.get(), data, size, MSG_DONTWAIT);
    });
    caller.size = all.size() - rest.size();
    if (!rest.empty()) { return there && Clock::now() - caller.since < kIntroduction; }
    const bool known = caller.hello.token == token_;
    if (known && std::ranges::count(missing(), caller.hello.rank) == 1) {
      sockets_[caller.hello.rank] = std::move(caller.socket);
    }
    return false;
  }

  /// Of those that were met already: they say nothing before all are ready, unless they give up.
  [[nodiscard]] bool somebody_left() const {
    return std::ranges::any_of(sockets_, [](const Socket& socket) {
      std::byte word{};
      return socket.open() && recv(socket.get(), &word, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
    });
  }

  static void prepare(const Socket& socket) {
    const int on = 1;
    setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }

  [[nodiscard]] std::vector<std::size_t> missing() const {
    std::vector<std::size_t> ranks;
    for (std::size_t other = launch_.rank + 1; other < launch_.size; ++other) {
      if (are_linked(launch_.rank, other) && !sockets_[other].open()) { ranks.push_back(other); }
    }
    return ranks;
  }

  [[noreturn]] void fail() const {
    const std::vector<std::size_t> ranks = missing();
    throw PeerError(
        fmt::format("rank {} of {} has not met {} at {}:{}; are all of them started, with the same "
                    "MASTER_ADDR and MASTER_PORT? They wait for {:g} s (--peer-timeout)",
                    launch_.rank, launch_.size,
                    ranks.empty() ? "the others"
                                  : fmt::format("rank{} {}", ranks.size() > 1 ? "s" : "",
                                                fmt::join(ranks, ", ")),
                    launch_.address, launch_.port, launch_.timeout_s),
        Exit::peer_unavailable);
  }

  Launch launch_;
  Board& board_;
  Clock::time_point until_;
  Socket listening_;
  std::vector<Caller> callers_;
  std::vector<Socket> sockets_;
  Token token_{};
};

}  // namespace

bool are_linked(std::size_t a, std::size_t b) {
  const auto [low, high] = std::minmax(a, b);
  return low != high && (low == 0 || std::has_single_bit(high - low));
}

std::unique_ptr<Links> tcp_links(const Launch& launch, const Address& own, Board& board) {
  try {
    Meeting meeting(launch, own, board);
    meeting.connect();
    return std::make_unique<TcpLinks>(launch, meeting.take_when_all_are_ready());
  } catch (const std::system_error& error) {
    throw PeerError(fmt::format("rank {} of {}: {}", launch.rank, launch.size, error.what()),
                    Exit::peer_unavailable);
  }
}

}  // namespace penstock::detail
