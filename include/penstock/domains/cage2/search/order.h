#pragma once
#include <array>

namespace penstock::cage2::search {

inline constexpr int kNumTypes = 5;
inline constexpr int kNumOrders = 120;  // 5!
inline constexpr int kNumPairs = 10;    // of types

/// The types 0 to 4, the most important first.
using Order = std::array<int, kNumTypes>;

/// All orders, lexicographically; an order's index is its place here.
const std::array<Order, kNumOrders>& all_orders();

/// Throws ConfigError unless each type occurs once.
int index_of(const Order& order);

/// For each pair of types i < j, (0,1) (0,2) ... (3,4): 1 when i comes first, else -1.
std::array<int, kNumPairs> pair_signs(const Order& order);

/// How many pairs of types the two orders rank differently: 0 to 10. By index.
int kendall_distance(int a, int b);

}  // namespace penstock::cage2::search
