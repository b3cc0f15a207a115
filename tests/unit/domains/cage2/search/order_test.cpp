#include "penstock/domains/cage2/search/order.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "penstock/core/base/errors.h"

namespace order_test {

using namespace penstock;
using namespace penstock::cage2::search;

TEST_CASE("the orders are lexicographic and know their index") {
  CHECK(all_orders().front() == Order{0, 1, 2, 3, 4});
  CHECK(all_orders().back() == Order{4, 3, 2, 1, 0});
  CHECK(std::is_sorted(all_orders().begin(), all_orders().end()));
  for (int i = 0; i < kNumOrders; ++i) { CHECK(index_of(all_orders()[i]) == i); }
  CHECK_THROWS_AS(index_of({0, 1, 2, 3, 3}), ConfigError);
  CHECK_THROWS_AS(index_of({0, 1, 2, 3, 5}), ConfigError);
}

TEST_CASE("the distance is a metric that counts swaps of neighbours") {
  for (int a = 0; a < kNumOrders; ++a) {
    CHECK(kendall_distance(a, a) == 0);
    Order reversed = all_orders()[a];
    std::reverse(reversed.begin(), reversed.end());
    CHECK(kendall_distance(a, index_of(reversed)) == 10);
    for (int p = 0; p + 1 < kNumTypes; ++p) {
      Order swapped = all_orders()[a];
      std::swap(swapped[p], swapped[p + 1]);
      CHECK(kendall_distance(a, index_of(swapped)) == 1);
    }
  }
  bool metric = true;
  for (int a = 0; a < kNumOrders; ++a) {
    for (int b = 0; b < kNumOrders; ++b) {
      metric &= kendall_distance(a, b) == kendall_distance(b, a);
      metric &= (kendall_distance(a, b) == 0) == (a == b);
      for (int c = 0; c < kNumOrders; ++c) {
        metric &= kendall_distance(a, c) <= kendall_distance(a, b) + kendall_distance(b, c);
      }
    }
  }
  CHECK(metric);
}

TEST_CASE("giving the types other names changes no distance") {
  const Order names{3, 0, 4, 1, 2};
  const auto renamed = [&](int i) {
    Order order = all_orders()[i];
    for (int& type : order) { type = names[type]; }
    return index_of(order);
  };
  bool same = true;
  for (int a = 0; a < kNumOrders; ++a) {
    for (int b = 0; b < kNumOrders; ++b) {
      same &= kendall_distance(a, b) == kendall_distance(renamed(a), renamed(b));
    }
  }
  CHECK(same);
}

}  // namespace order_test
