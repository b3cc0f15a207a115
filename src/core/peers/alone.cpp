#include <algorithm>

#include "penstock/core/peers/peers.h"

namespace penstock {
namespace {

class Alone final : public Peers {
 public:
  [[nodiscard]] std::size_t size() const override { return 1; }
  [[nodiscard]] std::size_t rank() const override { return 0; }
  void sum(std::span<float>) override {}
  void sum(std::span<double>) override {}
  void merge(std::span<Moments>) override {}
  void gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    std::ranges::copy(mine, all.begin());
  }
  void broadcast(std::span<std::byte>) override {}
  bool agree(bool here) override { return here; }
};

}  // namespace

Peers& alone() {
  static Alone peers;
  return peers;
}

}  // namespace penstock
