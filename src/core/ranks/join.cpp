#include "penstock/core/ranks/join.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "core/ranks/links.h"
#include "core/ranks/tree_peers.h"
#include "penstock/core/base/errors.h"

namespace penstock {
namespace {

/// Closes what was not taken.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) { close(fd_); }
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  int take() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] std::string text() const {
    std::array<char, NI_MAXHOST> name{};
    getnameinfo(get(), size, name.data(), name.size(), nullptr, 0, NI_NUMERICHOST);
    return name.data();
  }
  [[nodiscard]] bool is_loopback() const {
    if (storage.ss_family == AF_INET) {
      constexpr std::uint32_t kNetwork = 127;
      const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
      return ntohl(v4->sin_addr.s_addr) >> 24U == kNetwork;
    }
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
  }
};

/// On a cluster the name of a machine may come to be after the processes that look for it, as that
/// of a pod does: it is looked up again until the time is over.
addrinfo* look_up(const Launch& launch, Reach reach) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPause(200);
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const auto end = Clock::now() + std::chrono::duration<double>(launch.timeout_s);
  for (;;) {
    const int error =
        getaddrinfo(launch.address.c_str(), std::to_string(launch.port).c_str(), &wanted, &found);
    if (error == 0) { return found; }
    const std::string text = fmt::format("MASTER_ADDR = '{}', where the run's processes meet: {}",
                                         launch.address, gai_strerror(error));
    if (reach == Reach::this_machine) { throw ConfigError(text); }
    if (Clock::now() > end) {
      throw PeerError(fmt::format("{}, for {:g} s (--peer-timeout)", text, launch.timeout_s),
                      Exit::peer_unavailable);
    }
    std::this_thread::sleep_for(kPause);
  }
}

Address resolve(const Launch& launch, Reach reach) {
  addrinfo* found = look_up(launch, reach);
  Address address;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.size = found->ai_addrlen;
  freeaddrinfo(found);
  return address;
}

/// The store would listen on all addresses; ours does on one.
int listen_on(const Address& address, const Launch& launch) {
  Socket socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (socket.get() < 0 || bind(socket.get(), address.get(), address.size) != 0 ||
      listen(socket.get(), SOMAXCONN) != 0) {
    throw PeerError(fmt::format("rank 0 cannot listen on {}:{}: {}; choose another MASTER_PORT",
                                launch.address, launch.port, std::strerror(errno)),
                    Exit::peer_unavailable);
  }
  return socket.take();
}

/// The address of this machine that leads there. No packet is sent: a datagram socket only chooses.
std::string own_address(const Address& there) {
  const Socket socket(::socket(there.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  Address own;
  own.size = sizeof(own.storage);
  if (socket.get() < 0 || connect(socket.get(), there.get(), there.size) != 0 ||
      getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own.storage), &own.size) != 0) {
    throw PeerError(fmt::format("no way to {}: {}", there.text(), std::strerror(errno)),
                    Exit::peer_unavailable);
  }
  return own.text();
}

}  // namespace

std::unique_ptr<Peers> join(const Launch& launch, Reach reach) {
  const Address address = resolve(launch, reach);
  if (reach == Reach::this_machine && !address.is_loopback()) {
    throw ConfigError(
        fmt::format("the run's processes would meet at {} ({}), beyond this machine, and what they "
                    "say is neither encrypted nor signed: on a network that you trust, say so with "
                    "--insecure-network",
                    launch.address, address.text()));
  }
  const bool serves = launch.rank == 0 && !launch.store_is_there;
  const int listening = serves ? listen_on(address, launch) : -1;
  return std::make_unique<detail::TreePeers>(
      detail::gloo_links(launch, own_address(address), listening), launch.rank, launch.size);
}

}  // namespace penstock
