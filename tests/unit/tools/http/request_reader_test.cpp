#include "tools/http/request_reader.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

using namespace penstock::http;

namespace {

constexpr int kPort = 8080;
constexpr std::string_view kHost = "Host: localhost:8080\r\n";

Limits tight() { return {.body_bytes = 10, .header_bytes = 200, .num_headers = 5}; }

/// What became of a request that came in pieces of this size.
struct Outcome {
  int status = 0;  // 0: taken; -1: it needs more
  Request request;
  std::size_t left = 0;  // bytes behind it
  bool operator==(const Outcome& other) const {
    return status == other.status && request.path == other.request.path &&
           request.body == other.request.body && left == other.left;
  }
};

Outcome read(std::string_view text, std::size_t piece) {
  RequestReader reader(tight(), kPort);
  std::string pending;
  for (std::size_t at = 0; !reader.done() && at < text.size(); at += piece) {
    pending += text.substr(at, piece);
    std::size_t taken = 1;
    while (taken > 0 && !pending.empty() && !reader.done()) {
      taken = reader.read(pending);
      if (reader.refusal()) { return {.status = reader.refusal()->status}; }
      pending.erase(0, taken);
    }
    if (reader.done()) {
      const std::size_t unread = text.size() - std::min(text.size(), at + piece);
      return {.request = reader.take(), .left = pending.size() + unread};
    }
  }
  return {.status = -1};
}

Outcome read(const std::string& text) {
  const Outcome whole = read(text, text.size());
  for (const std::size_t piece : {1, 2, 3, 7}) { CHECK(read(text, piece) == whole); }
  return whole;
}

std::string get(std::string_view more) {
  return fmt::format("GET /a?b=c HTTP/1.1\r\n{}{}\r\n", kHost, more);
}

std::string post(std::string_view more, std::string_view body) {
  return fmt::format("POST /a HTTP/1.1\r\n{}{}\r\n{}", kHost, more, body);
}

constexpr std::string_view kChunked = "Transfer-Encoding: chunked\r\n";

}  // namespace

TEST_CASE("a request is read in pieces of any size, and nothing behind it") {
  const Outcome plain = read(get("") + "GET");
  CHECK(plain.status == 0);
  CHECK(plain.request.method == "GET");
  CHECK(plain.request.path == "/a");
  CHECK(plain.request.query == "b=c");
  CHECK(plain.left == 3);

  CHECK(read(post("Content-Length: 5\r\n", "hello!")).request.body == "hello");
  const Outcome chunked = read(post(kChunked, "3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\na: b\r\n\r\n+"));
  CHECK(chunked.request.body == "hello");
  CHECK(chunked.left == 1);
  CHECK(read(post(kChunked, "0\r\n\r\n")).status == 0);
  CHECK(read(post("Content-Length: 5\r\n", "hell")).status == -1);
}

TEST_CASE("the limits hold however the bytes come") {
  CHECK(read(post("Content-Length: 10\r\n", "0123456789")).status == 0);
  CHECK(read(post("Content-Length: 11\r\n", "")).status == 413);
  CHECK(read(post(kChunked, "a\r\n0123456789\r\n0\r\n\r\n")).status == 0);
  CHECK(read(post(kChunked, "a\r\n0123456789\r\n1\r\n!\r\n0\r\n\r\n")).status == 413);
  CHECK(read(post(kChunked, "ffffffffffffffff\r\n")).status == 413);
  CHECK(read(get("a: b\r\nc: d\r\ne: f\r\ng: h\r\n")).status == 0);
  CHECK(read(get("a: b\r\nc: d\r\ne: f\r\ng: h\r\ni: j\r\n")).status == 431);
  CHECK(read(get(fmt::format("a: {:0>100}\r\n", 1))).status == 0);
  CHECK(read(get(fmt::format("a: {:0>100}\r\nb: {:0>100}\r\n", 1, 2))).status == 431);
  CHECK(read(std::string(300, 'x')).status == 431);
  // A trailer counts as well.
  CHECK(read(post(kChunked, "0\r\na: b\r\nc: d\r\ne: f\r\ng: h\r\n\r\n")).status == 431);
}

TEST_CASE("headers that are read one after another count together") {
  // A piece ends two bytes into the next header: all before it is taken, and the parser, which
  // bounds only what is left, begins anew.
  RequestReader reader({.header_bytes = 200, .num_headers = 1000}, kPort);
  std::string pending = fmt::format("GET / HTTP/1.1\r\n{}aa", kHost);
  std::size_t sent = pending.size();
  while (!reader.refusal() && sent < 2000) {
    for (std::size_t taken = 1; taken > 0 && !reader.refusal();) {
      taken = reader.read(pending);
      pending.erase(0, taken);
    }
    pending += "aaaaaaaaaa: b\r\naa";
    sent += 17;
  }
  REQUIRE(reader.refusal());
  CHECK(reader.refusal()->status == 431);
  CHECK(sent < 300);
}

TEST_CASE("what could be read in two ways is refused") {
  for (const std::string more :
       {"Content-Length: 1\r\nContent-Length: 2\r\n", "Content-Length: 1, 2\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "Content-Length: -1\r\n",
        "Content-Length: 1e1\r\n", "a b: c\r\n", "a\r\n", "a: b\n", "Host: localhost:8080\r\n"}) {
    CAPTURE(more);
    CHECK(read(post(more, "0\r\n\r\n")).status == 400);
  }
  CHECK(read("GET http://localhost:8080/a HTTP/1.1\r\n\r\n").status == 400);
  CHECK(read("GET /a HTTP/2.0\r\n\r\n").status == 400);
  CHECK(read("GET /a HTTP/1.1\r\n\r\n").status == 400);  // no Host
  CHECK(read(fmt::format("POST /a HTTP/1.0\r\n{}{}\r\n0\r\n\r\n", kHost, kChunked)).status == 400);
}

TEST_CASE("what is not decoded is refused") {
  CHECK(read(post("Content-Encoding: gzip\r\n", "")).status == 415);
  CHECK(read(post("Content-Encoding: identity\r\n", "")).status == 0);
  CHECK(read(post("Transfer-Encoding: gzip\r\n", "")).status == 501);
  CHECK(read(post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n")).status == 501);
  CHECK(read(post("Expect: more\r\n", "")).status == 417);
}

TEST_CASE("hosts and origins are this server's") {
  CHECK(read("GET /a HTTP/1.1\r\nHost: evil.example\r\n\r\n").status == 421);
  CHECK(read(get("Origin: http://evil.example\r\n")).status == 403);
  CHECK(read(get("Origin: http://127.0.0.1:8080\r\n")).status == 0);
}

TEST_CASE("a body that waits to be asked for") {
  const auto waits = [](std::string_view more, std::string_view version) {
    RequestReader reader(tight(), kPort);
    const std::string text = fmt::format("POST /a HTTP/{}\r\n{}{}\r\n", version, kHost, more);
    reader.read(text);
    REQUIRE(reader.head_done());
    return reader.waits_for_continue();
  };
  CHECK(waits("Expect: 100-continue\r\nContent-Length: 3\r\n", "1.1"));
  CHECK_FALSE(waits("Content-Length: 3\r\n", "1.1"));
  CHECK_FALSE(waits("Expect: 100-continue\r\nContent-Length: 3\r\n", "1.0"));
  CHECK_FALSE(waits("Expect: 100-continue\r\n", "1.1"));  // there is none
}
