#include "penstock/core/ranks/join.h"

#include <fmt/format.h>
#include <netdb.h>

#include <chrono>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>

#include "core/ranks/board.h"
#include "core/ranks/links.h"
#include "core/ranks/sockets.h"
#include "core/ranks/tree_peers.h"
#include "penstock/core/base/errors.h"

namespace penstock {
namespace {

using detail::Address;
using detail::Socket;

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
Socket listen_for_store(const Address& address, const Launch& launch) {
  try {
    return detail::listen_on(address);
  } catch (const std::system_error& error) {
    throw PeerError(fmt::format("rank 0 cannot listen on {}:{}: {}; choose another MASTER_PORT",
                                launch.address, launch.port, std::strerror(error.code().value())),
                    Exit::peer_unavailable);
  }
}

Address address_towards(const Address& there) {
  try {
    return detail::own_address(there);
  } catch (const std::system_error& error) {
    throw PeerError(
        fmt::format("no way to {}: {}", there.host(), std::strerror(error.code().value())),
        Exit::peer_unavailable);
  }
}

}  // namespace

std::unique_ptr<Peers> join(const Launch& launch, Reach reach) {
  const Address address = resolve(launch, reach);
  if (reach == Reach::this_machine && !address.is_loopback()) {
    throw ConfigError(
        fmt::format("the run's processes would meet at {} ({}), beyond this machine, and what they "
                    "say is neither encrypted nor signed: on a network that you trust, say so with "
                    "--insecure-network",
                    launch.address, address.host()));
  }
  const bool serves = launch.rank == 0 && !launch.store_is_there;
  Socket listening = serves ? listen_for_store(address, launch) : Socket();
  // Gone when all have met: a run listens nowhere.
  const auto board = detail::open_board(launch, listening.take());
  return std::make_unique<detail::TreePeers>(
      detail::tcp_links(launch, address_towards(address), *board), launch.rank, launch.size);
}

}  // namespace penstock
