#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/core/base/moments.h"

namespace penstock {

/// What crosses processes: the tree above the shards. A process reduces its own shards first; these
/// calls go on with the same pairwise tree over all processes, so that any number of them gives the
/// same bits. Every process makes the same calls in the same order, from one thread at a time.
/// Throws PeerError when another process is gone.
class Peers {
 public:
  virtual ~Peers() = default;
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual std::size_t rank() const = 0;

  /// In place: the sum over processes, element by element.
  virtual void sum(std::span<float> values) = 0;
  virtual void sum(std::span<double> values) = 0;
  /// In place: the moments of what all processes saw.
  virtual void merge(std::span<Moments> moments) = 0;
  /// At rank 0 everybody's bytes, in the order of ranks, each of its own length. Nothing elsewhere.
  virtual std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine) = 0;
  /// In place: the bytes of rank 0; elsewhere what was there before is lost.
  virtual void broadcast(std::vector<std::byte>& bytes) = 0;

  /// Whether it holds for any process: a stop, a failure.
  bool agree(bool here) {
    double count = here ? 1 : 0;
    sum(std::span(&count, 1));
    return count > 0;
  }
  [[nodiscard]] bool alone() const { return size() == 1; }
};

/// One process: what is here is all there is. Stateless, lives as long as the program.
Peers& alone();

}  // namespace penstock
