#include "penstock/domains/cage2/search/order.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "penstock/core/base/errors.h"

namespace penstock::cage2::search {
namespace {

std::array<Order, kNumOrders> enumerate() {
  std::array<Order, kNumOrders> orders{};
  Order order{};
  std::iota(order.begin(), order.end(), 0);
  for (Order& each : orders) {
    each = order;
    std::next_permutation(order.begin(), order.end());
  }
  return orders;
}

using Distances = std::array<std::array<std::int8_t, kNumOrders>, kNumOrders>;

Distances measure() {
  Distances distances{};
  for (int a = 0; a < kNumOrders; ++a) {
    const auto signs = pair_signs(all_orders()[a]);
    for (int b = 0; b < kNumOrders; ++b) {
      const auto others = pair_signs(all_orders()[b]);
      const int agreement = std::inner_product(signs.begin(), signs.end(), others.begin(), 0);
      distances[a][b] = (kNumPairs - agreement) / 2;
    }
  }
  return distances;
}

}  // namespace

const std::array<Order, kNumOrders>& all_orders() {
  static const std::array<Order, kNumOrders> kOrders = enumerate();
  return kOrders;
}

int index_of(const Order& order) {
  const auto& orders = all_orders();
  const auto found = std::lower_bound(orders.begin(), orders.end(), order);
  if (found == orders.end() || *found != order) {
    throw ConfigError("an order names each of the types 0 to 4 once");
  }
  return found - orders.begin();
}

std::array<int, kNumPairs> pair_signs(const Order& order) {
  std::array<int, kNumTypes> place{};
  for (int p = 0; p < kNumTypes; ++p) { place[order[p]] = p; }
  std::array<int, kNumPairs> signs{};
  int pair = 0;
  for (int i = 0; i < kNumTypes; ++i) {
    for (int j = i + 1; j < kNumTypes; ++j) { signs[pair++] = place[i] < place[j] ? 1 : -1; }
  }
  return signs;
}

int kendall_distance(int a, int b) {
  static const Distances kDistances = measure();
  return kDistances[a][b];
}

}  // namespace penstock::cage2::search
