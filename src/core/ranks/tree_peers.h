#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "core/ranks/links.h"
#include "penstock/core/peers/peers.h"

namespace penstock::detail {

/// The pairwise tree of tree_reduce() over processes: (0,1) (2,3) ..., then (0,2) ..., whoever
/// computes it, so that the bits are those of one process with all shards.
class TreePeers final : public Peers {
 public:
  TreePeers(std::unique_ptr<Links> links, std::size_t rank, std::size_t size)
      : links_(std::move(links)), rank_(rank), size_(size) {}

  [[nodiscard]] std::size_t size() const override { return size_; }
  [[nodiscard]] std::size_t rank() const override { return rank_; }
  void sum(std::span<float> values) override { sum_all(values); }
  void sum(std::span<double> values) override { sum_all(values); }
  void merge(std::span<Moments> moments) override;
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine) override;
  void broadcast(std::vector<std::byte>& bytes) override;

 private:
  template <class T>
  void sum_all(std::span<T> values);
  template <class T>
  void sum_by_halves(std::span<T> values);
  template <class T, class Fold>
  void fold_up_and_down(std::span<T> values, const Fold& fold);
  template <class T>
  void hand_down(std::span<T> values, std::size_t stride);
  template <class T>
  std::span<T> scratch(std::size_t count);

  std::unique_ptr<Links> links_;
  std::size_t rank_;
  std::size_t size_;
  std::vector<std::byte> scratch_;  // grows; no call but the largest so far allocates
};

}  // namespace penstock::detail
