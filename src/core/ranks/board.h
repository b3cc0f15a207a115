#pragma once
#include <memory>
#include <string>

#include "penstock/core/ranks/launch.h"

namespace penstock::detail {

/// Where the processes of a launch leave notes for each other before they are connected: c10d's
/// store, which launchers may bring. What knows of c10d stays in board.cpp.
class Board {
 public:
  virtual ~Board() = default;
  /// Throws PeerError (exit 69).
  virtual void put(const std::string& name, const std::string& note) = 0;
  /// Waits for it, as long as the launch allows. Throws PeerError (exit 69).
  virtual std::string take(const std::string& name) = 0;
};

/// `listening` is a socket for the board that rank 0 has, which is taken over, or -1.
std::unique_ptr<Board> open_board(const Launch& launch, int listening);

}  // namespace penstock::detail
