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
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine) override {
    return {{mine.begin(), mine.end()}};
  }
  void broadcast(std::vector<std::byte>&) override {}
};

}  // namespace

Peers& alone() {
  static Alone peers;
  return peers;
}

}  // namespace penstock
