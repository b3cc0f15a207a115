#include "envs/python/ipc.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "penstock/core/base/errors.h"

using namespace penstock;
using namespace penstock::detail;

namespace {

void sleep_ms(int time) { std::this_thread::sleep_for(std::chrono::milliseconds(time)); }

struct Interrupted {};

}  // namespace

TEST_CASE("a line that comes late, and in pieces, is waited for; others are asked meanwhile") {
  Pair pair = make_socket();
  int asked = 0;
  std::thread other([&] {
    sleep_ms(250);
    CHECK(::write(pair.theirs.get(), "o", 1) == 1);
    sleep_ms(250);
    CHECK(::write(pair.theirs.get(), "k\n", 2) == 2);
  });
  CHECK(receive_line(pair.ours.get(), 300, nullptr, [&] { ++asked; }) == "ok");
  other.join();
  CHECK(asked >= 2);
}

TEST_CASE("silence ends after its time, with or without others that are asked, and at their word") {
  const Pair pair = make_socket();
  const int socket = pair.ours.get();
  CHECK_THROWS_WITH_AS(receive_line(socket, 0.15, nullptr), doctest::Contains("silent"), IoError);
  CHECK_THROWS_WITH_AS(receive_line(socket, 0.15, nullptr, [] {}), doctest::Contains("silent"),
                       IoError);
  CHECK_THROWS_AS(receive_line(socket, 300, nullptr, [] { throw Interrupted(); }), Interrupted);
}

TEST_CASE("a side that is gone is told from one that is silent") {
  Pair pair = make_socket();
  pair.theirs.close();
  CHECK_THROWS_WITH_AS(receive_line(pair.ours.get(), 300, nullptr), doctest::Contains("gone"),
                       IoError);
  CHECK_THROWS_WITH_AS(send_line(pair.ours.get(), "hello", -1), doctest::Contains("gone"), IoError);
}

TEST_CASE("a descriptor travels beside its line") {
  const Pair pair = make_socket();
  const Descriptor memory = memory_with("a text");
  send_line(pair.theirs.get(), "take this", memory.get());
  send_line(pair.theirs.get(), "and nothing", -1);
  Descriptor received;
  CHECK(receive_line(pair.ours.get(), 300, &received).starts_with("take this"));
  REQUIRE(received.get() >= 0);
  std::array<char, 16> text{};
  CHECK(::pread(received.get(), text.data(), text.size(), 0) == 6);
  CHECK(std::string(text.data()) == "a text");
}
