#pragma once
#include <cstddef>
#include <memory>
#include <span>

#include "core/ranks/board.h"
#include "core/ranks/sockets.h"
#include "penstock/core/ranks/launch.h"

namespace penstock::detail {

/// Bytes to and from other processes of a launch. From one thread at a time. Throws PeerError that
/// names the process and how long it was waited for.
class Links {
 public:
  virtual ~Links() = default;
  virtual void send(std::size_t to, std::span<const std::byte> bytes) = 0;
  virtual void receive(std::size_t from, std::span<std::byte> bytes) = 0;
  /// Both ways at once; the other does the same.
  virtual void swap(std::size_t with, std::span<const std::byte> out, std::span<std::byte> in) = 0;
};

/// Whether the tree of TreePeers ever has the two talk to each other.
bool are_linked(std::size_t a, std::size_t b);

/// A connection for each pair that is linked. Returns when all processes have theirs; from then on
/// nobody listens any more. `own` is where this one listens meanwhile. Throws PeerError (exit 69)
/// that says who has not come.
std::unique_ptr<Links> tcp_links(const Launch& launch, const Address& own, Board& board);

}  // namespace penstock::detail
