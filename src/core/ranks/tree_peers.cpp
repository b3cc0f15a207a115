#include "core/ranks/tree_peers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace penstock::detail {
namespace {

// Above it a process that sends halves of halves moves fewer bytes, in twice the messages.
constexpr std::size_t kHalvesFromBytes = 1 << 20;

template <class T>
void add(std::span<T> into, std::span<const T> other) {
  for (std::size_t i = 0; i < into.size(); ++i) { into[i] += other[i]; }
}

}  // namespace

template <class T>
std::span<T> TreePeers::scratch(std::size_t count) {
  if (scratch_.size() < count * sizeof(T)) { scratch_.resize(count * sizeof(T)); }
  return {reinterpret_cast<T*>(scratch_.data()), count};
}

/// Everybody computes the whole sum: level by level with the process whose number differs in that
/// bit. a + b and b + a have the same bits.
template <class T>
void TreePeers::sum_all(std::span<T> values) {
  if (!std::has_single_bit(size_)) {
    return fold_up_and_down(values, [](std::span<T> a, std::span<const T> b) { add<T>(a, b); });
  }
  if (size_ > 2 && values.size_bytes() >= kHalvesFromBytes) { return sum_by_halves(values); }
  const std::span<T> theirs = scratch<T>(values.size());
  for (std::size_t distance = 1; distance < size_; distance *= 2) {
    links_->swap(rank_ ^ distance, std::as_bytes(values), std::as_writable_bytes(theirs));
    add<T>(values, theirs);
  }
}

/// The same tree for every element: at distance 1 first, each half by one of the two, and so on;
/// then the parts come back the other way.
template <class T>
void TreePeers::sum_by_halves(std::span<T> values) {
  struct Split {
    std::span<T> mine;
    std::span<T> other;
  };
  std::array<Split, std::numeric_limits<std::size_t>::digits> splits;
  std::size_t level = 0;
  std::span<T> part = values;
  for (std::size_t distance = 1; distance < size_; distance *= 2) {
    const std::size_t half = part.size() / 2;
    Split split{part.first(half), part.subspan(half)};
    if ((rank_ & distance) != 0) { std::swap(split.mine, split.other); }
    const std::span<T> theirs = scratch<T>(split.mine.size());
    links_->swap(rank_ ^ distance, std::as_bytes(split.other), std::as_writable_bytes(theirs));
    add<T>(split.mine, theirs);
    part = split.mine;
    splits[level++] = split;
  }
  for (std::size_t distance = size_ / 2; distance > 0; distance /= 2) {
    const Split& split = splits[--level];
    links_->swap(rank_ ^ distance, std::as_bytes(split.mine), std::as_writable_bytes(split.other));
  }
}

/// For any number of processes, and for folds that are not symmetric: up to rank 0, which hands the
/// result down.
template <class T, class Fold>
void TreePeers::fold_up_and_down(std::span<T> values, const Fold& fold) {
  const std::span<T> theirs = scratch<T>(values.size());
  std::size_t stride = 1;
  for (; stride < size_; stride *= 2) {
    if (rank_ % (2 * stride) != 0) {
      links_->send(rank_ - stride, std::as_bytes(values));
      break;
    }
    if (rank_ + stride < size_) {
      links_->receive(rank_ + stride, std::as_writable_bytes(theirs));
      fold(values, std::span<const T>(theirs));
    }
  }
  hand_down(values, stride);
}

/// `stride` is where this process left the tree: from there it gets the bytes of rank 0.
template <class T>
void TreePeers::hand_down(std::span<T> values, std::size_t stride) {
  if (rank_ > 0) { links_->receive(rank_ - stride, std::as_writable_bytes(values)); }
  for (stride /= 2; stride > 0; stride /= 2) {
    if (rank_ + stride < size_) { links_->send(rank_ + stride, std::as_bytes(values)); }
  }
}

/// Not symmetric: the lower process's part comes first, whoever folds.
void TreePeers::merge(std::span<Moments> moments) {
  const auto fold = [](std::span<Moments> a, std::span<const Moments> b) {
    for (std::size_t i = 0; i < a.size(); ++i) { a[i].merge(b[i]); }
  };
  if (!std::has_single_bit(size_)) { return fold_up_and_down(moments, fold); }
  const std::span<Moments> theirs = scratch<Moments>(moments.size());
  for (std::size_t distance = 1; distance < size_; distance *= 2) {
    links_->swap(rank_ ^ distance, std::as_bytes(moments), std::as_writable_bytes(theirs));
    if ((rank_ & distance) == 0) {
      fold(moments, theirs);
    } else {
      fold(theirs, moments);
      std::ranges::copy(theirs, moments.begin());
    }
  }
}

std::vector<std::vector<std::byte>> TreePeers::gather(std::span<const std::byte> mine) {
  std::uint64_t size = mine.size();
  const auto length = std::as_writable_bytes(std::span(&size, 1));
  if (rank_ > 0) {
    links_->send(0, length);
    links_->send(0, mine);
    return {};
  }
  std::vector<std::vector<std::byte>> all;
  all.emplace_back(mine.begin(), mine.end());
  for (std::size_t other = 1; other < size_; ++other) {
    links_->receive(other, length);
    links_->receive(other, all.emplace_back(size));
  }
  return all;
}

void TreePeers::broadcast(std::vector<std::byte>& bytes) {
  // The power of two above the last rank; below it each process left the tree at its lowest bit.
  const std::size_t stride = rank_ > 0 ? rank_ & (~rank_ + 1) : std::bit_ceil(size_);
  std::uint64_t size = bytes.size();
  hand_down(std::span(&size, 1), stride);
  bytes.resize(size);
  hand_down(std::span(bytes), stride);
}

}  // namespace penstock::detail
