#include "tools/http/workers.h"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <memory>

using namespace penstock::http;

namespace {

/// A job that runs until it is let go.
struct Gate {
  std::promise<void> begun;
  std::promise<void> open;
  Workers::Job job() {
    return [this] {
      begun.set_value();
      open.get_future().wait();
    };
  }
};

}  // namespace

TEST_CASE("jobs are done, as many at a time as there are threads, in their order") {
  Workers workers(1, 10);
  std::vector<int> order;
  std::promise<void> last;
  for (int i = 0; i < 5; ++i) {
    CHECK(workers.try_add([&, i] { order.push_back(i); }));
  }
  CHECK(workers.try_add([&] { last.set_value(); }));
  last.get_future().wait();
  CHECK(order == std::vector<int>{0, 1, 2, 3, 4});
}

TEST_CASE("the queue does not grow beyond its bound, and can be dropped") {
  Gate first;
  Gate second;
  std::atomic<int> done = 0;
  auto held = std::make_shared<int>();
  {
    Workers workers(2, 3);
    CHECK(workers.try_add(first.job()));
    CHECK(workers.try_add(second.job()));
    first.begun.get_future().wait();
    second.begun.get_future().wait();
    for (int i = 0; i < 3; ++i) {
      CHECK(workers.try_add([&, held] { ++done; }));
    }
    CHECK_FALSE(workers.try_add([&] { ++done; }));
    CHECK(workers.num_running() == 2);
    CHECK(workers.num_waiting() == 3);
    workers.drop_waiting();
    CHECK(workers.num_waiting() == 0);
    CHECK(held.use_count() == 1);
    first.open.set_value();
    second.open.set_value();
  }
  CHECK(done == 0);
}
