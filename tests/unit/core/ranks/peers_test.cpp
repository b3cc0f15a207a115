#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/core/base/tree_reduce.h"
#include "penstock/core/ranks/join.h"

using namespace penstock;

// Ranks are threads here, each with its own connections over loopback: what they say to each other
// is what processes say.

namespace {

/// A port of loopback that is taken as long as this lives.
struct TakenPort {
  TakenPort() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    REQUIRE(bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(listen(fd, 1) == 0);
    REQUIRE(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    number = ntohs(address.sin_port);
  }
  ~TakenPort() { close(fd); }
  TakenPort(const TakenPort&) = delete;
  TakenPort& operator=(const TakenPort&) = delete;

  int fd = socket(AF_INET, SOCK_STREAM, 0);
  std::uint16_t number = 0;
};

/// One that nobody has any more.
std::uint16_t free_port() { return TakenPort().number; }

constexpr double kTimeout = 60;  // only a test that fails waits for it

void with_ranks(std::size_t size, const std::function<void(Peers&)>& work,
                double timeout_s = kTimeout) {
  const std::uint16_t port = free_port();
  std::vector<std::exception_ptr> failures(size);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        const auto peers = join({.rank = rank, .size = size, .port = port, .timeout_s = timeout_s},
                                Reach::this_machine);
        work(*peers);
      } catch (...) { failures[rank] = std::current_exception(); }
    });
  }
  for (std::thread& thread : threads) { thread.join(); }
  for (const auto& failure : failures) {
    if (failure) { std::rethrow_exception(failure); }
  }
}

template <class T>
std::vector<T> numbers(std::size_t count, std::uint64_t seed) {
  Random random({.seed = seed});
  std::vector<T> values(count);
  for (T& value : values) { value = static_cast<T>(random.uniform() * 1e3 - 500); }
  return values;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// Of this process, on loopback.
std::set<std::uint16_t> listening_ports() {
  std::set<std::string> own;  // inodes of its sockets
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    own.insert(std::filesystem::read_symlink(entry.path(), gone).string());
  }
  std::set<std::uint16_t> ports;
  std::ifstream table("/proc/self/net/tcp");
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream words(line);
    std::string number, local, remote, state, queues, timer, retries, user, waits, inode;
    words >> number >> local >> remote >> state >> queues >> timer >> retries >> user >> waits >>
        inode;
    if (state == "0A" && own.contains("socket:[" + inode + "]")) {
      ports.insert(
          static_cast<std::uint16_t>(std::stoul(local.substr(local.find(':') + 1), nullptr, 16)));
    }
  }
  return ports;
}

std::set<std::uint16_t> wait_for_doors(std::size_t count) {
  std::set<std::uint16_t> doors;
  while (doors.size() < count) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    doors = listening_ports();
  }
  return doors;
}

/// Connects, says something and stays.
struct Caller {
  Caller(std::uint16_t port, const std::string& words) : fd(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    REQUIRE(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    (void)send(fd, words.data(), words.size(), MSG_NOSIGNAL);
  }
  ~Caller() {
    if (fd >= 0) { close(fd); }
  }
  Caller(Caller&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Caller& operator=(Caller&&) = delete;
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;
  int fd;
};

/// What one process with all the parts computes.
template <class T>
std::vector<T> tree_sum(std::size_t ranks, std::size_t count) {
  std::vector<std::vector<T>> parts;
  for (std::size_t rank = 0; rank < ranks; ++rank) { parts.push_back(numbers<T>(count, rank)); }
  tree_reduce(std::span(parts), [](std::vector<T>& a, const std::vector<T>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) { a[i] += b[i]; }
  });
  return parts[0];
}

}  // namespace

TEST_CASE("sums over ranks have the bits of one process, short and long, for any number of ranks") {
  for (const std::size_t ranks : {2, 3, 4, 5, 7, 8}) {
    for (const std::size_t count : {1, 7, 1000, 600'001}) {
      CAPTURE(ranks);
      CAPTURE(count);
      const auto floats = tree_sum<float>(ranks, count);
      const auto doubles = tree_sum<double>(ranks, count);
      std::vector<int> right(ranks);
      with_ranks(ranks, [&](Peers& peers) {
        auto some = numbers<float>(count, peers.rank());
        auto more = numbers<double>(count, peers.rank());
        peers.sum(std::span(some));
        peers.sum(std::span(more));
        right[peers.rank()] = same_bits(some, floats) && same_bits(more, doubles) ? 1 : 0;
      });
      CHECK(std::accumulate(right.begin(), right.end(), 0) == static_cast<int>(ranks));
    }
  }
}

TEST_CASE("moments are merged with the lower rank's first, as the tree has it") {
  for (const std::size_t ranks : {2, 3, 4}) {
    const auto moments_of = [](std::size_t rank) {
      Moments moments;
      for (const double x : numbers<double>(50 + rank, rank)) { moments.add(x); }
      return moments;
    };
    std::vector<Moments> parts;
    for (std::size_t rank = 0; rank < ranks; ++rank) { parts.push_back(moments_of(rank)); }
    tree_reduce(std::span(parts), [](Moments& a, const Moments& b) { a.merge(b); });
    std::vector<Moments> found(ranks);
    with_ranks(ranks, [&](Peers& peers) {
      std::vector<Moments> mine = {moments_of(peers.rank())};
      peers.merge(mine);
      found[peers.rank()] = mine[0];
    });
    for (const Moments& each : found) {
      CHECK(each.count == parts[0].count);
      CHECK(each.mean == parts[0].mean);
      CHECK(each.m2 == parts[0].m2);
    }
  }
}

TEST_CASE("bytes of any length are gathered at rank 0 and sent out from there") {
  for (const std::size_t ranks : {2, 3, 5}) {
    std::vector<std::vector<std::byte>> gathered;
    std::vector<std::vector<std::byte>> received(ranks);
    with_ranks(ranks, [&](Peers& peers) {
      const std::vector<std::byte> mine(peers.rank() * 1000, std::byte(peers.rank()));
      auto all = peers.gather(mine);
      CHECK(all.empty() == (peers.rank() > 0));
      if (peers.rank() == 0) { gathered = std::move(all); }
      std::vector<std::byte> bytes(peers.rank() == 0 ? 12'345 : 3, std::byte(peers.rank() + 1));
      peers.broadcast(bytes);
      received[peers.rank()] = bytes;
    });
    REQUIRE(gathered.size() == ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      CHECK(gathered[rank] == std::vector<std::byte>(rank * 1000, std::byte(rank)));
      CHECK(received[rank] == std::vector<std::byte>(12'345, std::byte(1)));
    }
  }
}

TEST_CASE("what holds anywhere is agreed on everywhere") {
  std::vector<int> told(4);
  with_ranks(4, [&](Peers& peers) {
    const bool none = peers.agree(false);
    const bool one = peers.agree(peers.rank() == 2);
    told[peers.rank()] = !none && one ? 1 : 0;
  });
  CHECK(std::accumulate(told.begin(), told.end(), 0) == 4);
}

TEST_CASE("fault 17: a rank that is gone is named, by an error that asks to be run again") {
  std::string told;
  Exit exit = Exit::ok;
  with_ranks(2, [&](Peers& peers) {
    if (peers.rank() == 1) { return; }
    try {
      peers.agree(false);
    } catch (const PeerError& error) {
      told = error.what();
      exit = error.exit();
    }
  });
  CHECK(told.find("rank 1 is gone") != std::string::npos);
  CHECK(told.find('\n') == std::string::npos);
  CHECK(exit == Exit::preempted);
}

TEST_CASE("fault 17: ranks that never come are waited for no longer than said") {
  const Launch launch{.rank = 0, .size = 2, .port = free_port(), .timeout_s = 1};
  try {
    (void)join(launch, Reach::this_machine);
    FAIL("nobody was there");
  } catch (const PeerError& error) {
    CHECK(error.exit() == Exit::peer_unavailable);
    CHECK(std::string(error.what()).find("has not met rank 1") != std::string::npos);
  }
}

TEST_CASE("strangers at the door do not disturb, and nobody listens once all have met") {
  const std::uint16_t port = free_port();
  const auto launch_of = [&](std::size_t rank) {
    return Launch{.rank = rank, .size = 2, .port = port, .timeout_s = kTimeout};
  };
  std::unique_ptr<Peers> first;
  std::thread waiting([&] { first = join(launch_of(0), Reach::this_machine); });
  // Rank 0 waits for rank 1 meanwhile: garbage, silence and half a word to all that listens.
  const std::set<std::uint16_t> doors = wait_for_doors(2);
  std::vector<Caller> strangers;
  for (const std::uint16_t door : doors) {
    if (door == port) { continue; }  // the store's, which is c10d's
    strangers.emplace_back(door, std::string(4096, 'x'));
    strangers.emplace_back(door, "");
    strangers.emplace_back(door, "half");
  }
  CHECK(strangers.size() == 3);
  const auto second = join(launch_of(1), Reach::this_machine);
  waiting.join();
  CHECK(listening_ports().empty());
  std::thread other([&] { CHECK(!second->agree(false)); });
  CHECK(!first->agree(false));
  other.join();
}

TEST_CASE("after a failure nothing more is said, and all others learn of it") {
  std::vector<std::string> told(3);
  with_ranks(3, [&](Peers& peers) {
    if (peers.rank() == 1) { return; }  // gone
    const auto failure_of = [](const std::function<void()>& call) -> std::string {
      try {
        call();
      } catch (const PeerError& error) { return error.what(); }
      return "";
    };
    double number = 1;
    std::vector<std::byte> bytes(3);
    if (peers.rank() == 0) {
      told[0] = failure_of([&] { peers.sum(std::span(&number, 1)); });
      told[1] = failure_of([&] { peers.broadcast(bytes); });
    } else {
      told[2] = failure_of([&] { peers.broadcast(bytes); });
      CHECK(bytes.size() == 3);
    }
  });
  CHECK(told[0].find("rank 1 is gone") != std::string::npos);
  CHECK(told[1].find("is gone") != std::string::npos);
  CHECK(told[2].find("rank 0 is gone") != std::string::npos);
}

TEST_CASE("one that is lost before all have met ends the meeting at once") {
  const std::uint16_t port = free_port();
  const auto launch_of = [&](std::size_t rank, double timeout_s) {
    return Launch{.rank = rank, .size = 3, .port = port, .timeout_s = timeout_s};
  };
  std::vector<std::exception_ptr> failures(2);
  std::vector<std::thread> threads;
  for (const std::size_t rank : {0, 1}) {
    threads.emplace_back([&, rank] {
      try {
        (void)join(launch_of(rank, rank == 0 ? 2 : kTimeout), Reach::this_machine);
      } catch (...) { failures[rank] = std::current_exception(); }
    });
  }
  for (std::thread& thread : threads) { thread.join(); }  // rank 2 never comes: rank 0 gives up
  for (const auto& failure : failures) {
    REQUIRE(failure);
    try {
      std::rethrow_exception(failure);
    } catch (const PeerError& error) { CHECK(error.exit() == Exit::peer_unavailable); }
  }
}

TEST_CASE("a port that is taken is named") {
  const TakenPort taken;
  const Launch launch{.rank = 0, .size = 2, .port = taken.number, .timeout_s = 1};
  CHECK_THROWS_WITH_AS((void)join(launch, Reach::this_machine),
                       doctest::Contains("choose another MASTER_PORT"), PeerError);
}

TEST_CASE("a name that means nothing is looked up again until the time is over") {
  const Launch launch{.rank = 1, .size = 2, .address = "nowhere.invalid", .timeout_s = 0.3};
  try {
    (void)join(launch, Reach::any_network);
    FAIL("it has met nobody");
  } catch (const PeerError& error) {
    CHECK(error.exit() == Exit::peer_unavailable);
    CHECK(std::string(error.what()).find("nowhere.invalid") != std::string::npos);
    CHECK(std::string(error.what()).find("--peer-timeout") != std::string::npos);
  }
  CHECK_THROWS_AS((void)join(launch, Reach::this_machine), ConfigError);
}
