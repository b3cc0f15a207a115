#include "penstock/core/store/event_file.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include "support.h"

namespace event_file_test {

using namespace penstock;
using namespace penstock::test;

// tests/oracle/store reads these files with TensorBoard itself; here are the bytes that do not
// vary.

TEST_CASE("the first record is the version, framed by checksums") {
  const TempDir dir;
  const EventFile events(dir.path());
  const std::string bytes = slurp(events.path());
  constexpr std::size_t kEvent = 1 + 8 + 1 + 1 + 1 + 1 + 13;
  REQUIRE(bytes.size() == 8 + 4 + kEvent + 4);
  CHECK(bytes.substr(0, 8) == std::string("\x1a\0\0\0\0\0\0\0", 8));
  CHECK(bytes.substr(12, 1) == "\x09");  // 1: fixed 64
  CHECK(bytes.substr(21, 17) == std::string("\x10\0\x1a\x0d"
                                            "brain.Event:2",
                                            17));
}

TEST_CASE("the masked checksum of a length is the one TensorFlow writes") {
  const TempDir dir;
  const EventFile events(dir.path());
  // Of the eight bytes of the number 26; computed with the tensorboard package.
  CHECK(slurp(events.path()).substr(8, 4) == "\x12\x9b\xd8\x2d");
}

TEST_CASE("a file is named by time, host and process, and later files sort later") {
  const TempDir dir;
  spill(dir / "events.out.tfevents.4000000000.elsewhere.1.penstock", "");  // a clock that was ahead
  const EventFile first(dir.path());
  const EventFile second(dir.path());
  CHECK(contains(first.path(), "/events.out.tfevents.4000000001."));
  CHECK(contains(second.path(), "/events.out.tfevents.4000000002."));
  CHECK(first.path().ends_with(std::to_string(::getpid()) + ".penstock"));
}

TEST_CASE("records reach the file at once") {
  const TempDir dir;
  EventFile events(dir.path());
  const auto before = fs::file_size(events.path());
  const std::vector<std::pair<std::string, double>> values{{"a", 1.5}, {"b", 2.5}};
  events.scalars(300, values);
  const auto after = fs::file_size(events.path());
  CHECK(after == before + 2 * (8 + 4 + (9 + 3 + 2 + 2 + 3 + 5) + 4));
  events.restart_at(1);
  CHECK(fs::file_size(events.path()) == after + 8 + 4 + (9 + 2 + 2 + 2) + 4);
}

}  // namespace event_file_test
