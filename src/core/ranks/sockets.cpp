#include "core/ranks/sockets.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "penstock/core/base/errors.h"

namespace penstock::detail {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

int milliseconds_until(Clock::time_point until) {
  using std::chrono::milliseconds;
  constexpr std::int64_t kMost = 1'000'000;
  const auto left = std::chrono::ceil<milliseconds>(until - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, kMost));
}

bool wait_for(int fd, short events, Clock::time_point until) {
  pollfd each{.fd = fd, .events = events, .revents = 0};
  int found = 0;
  do { found = poll(&each, 1, milliseconds_until(until)); } while (found < 0 && errno == EINTR);
  if (found < 0) { fail("poll"); }
  return found > 0;
}

}  // namespace

Socket::~Socket() {
  if (fd_ >= 0) { close(fd_); }
}

bool Address::is_loopback() const {
  if (storage.ss_family == AF_INET) {
    constexpr std::uint32_t kNetwork = 127;
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    return ntohl(v4->sin_addr.s_addr) >> 24U == kNetwork;
  }
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
  return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

void Address::set_port(std::uint16_t port) {
  if (storage.ss_family == AF_INET) {
    reinterpret_cast<sockaddr_in*>(&storage)->sin_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port = htons(port);
  }
}

std::string Address::host() const {
  std::array<char, NI_MAXHOST> name{};
  getnameinfo(get(), size, name.data(), name.size(), nullptr, 0, NI_NUMERICHOST);
  return name.data();
}

std::string Address::text() const {
  std::array<char, NI_MAXSERV> port{};
  getnameinfo(get(), size, nullptr, 0, port.data(), port.size(), NI_NUMERICSERV);
  return host() + " " + port.data();
}

Address Address::of(const std::string& text) {
  const std::size_t space = text.find(' ');
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (space == std::string::npos ||
      getaddrinfo(text.substr(0, space).c_str(), text.substr(space + 1).c_str(), &wanted, &found) !=
          0) {
    throw PeerError("a process gave '" + text + "' as its address");
  }
  Address address;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.size = found->ai_addrlen;
  freeaddrinfo(found);
  return address;
}

Socket listen_on(const Address& address) {
  Socket socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (!socket.open() || bind(socket.get(), address.get(), address.size) != 0 ||
      listen(socket.get(), SOMAXCONN) != 0) {
    fail("listen");
  }
  return socket;
}

Address address_of(const Socket& socket) {
  Address own;
  own.size = sizeof(own.storage);
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own.storage), &own.size) != 0) {
    fail("getsockname");
  }
  return own;
}

/// No packet is sent: a datagram socket only chooses.
Address own_address(const Address& there) {
  const Socket socket(::socket(there.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.open() || connect(socket.get(), there.get(), there.size) != 0) { fail("connect"); }
  Address own = address_of(socket);
  own.set_port(0);
  return own;
}

Socket connect_to(const Address& address, Clock::time_point until) {
  Socket socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.open()) { fail("socket"); }
  if (connect(socket.get(), address.get(), address.size) != 0 && errno != EINPROGRESS) {
    return Socket();
  }
  int error = 0;
  socklen_t size = sizeof(error);
  if (!wait_for(socket.get(), POLLOUT, until) ||
      getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) {
    return Socket();
  }
  return socket;
}

Socket accept_from(const Socket& listening, Clock::time_point until) {
  if (!wait_for(listening.get(), POLLIN, until)) { return Socket(); }
  return Socket(accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

}  // namespace penstock::detail
