#include "tools/http/local_site.h"

#include <doctest/doctest.h>

using namespace penstock::http;

TEST_CASE("three names are this machine's, with the port") {
  for (const char* host : {"127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080"}) {
    CHECK(is_local_host(host, 8080));
  }
  for (const char* host : {"", ":8080", "127.0.0.1", "localhost:80", "localhost:08080",
                           "localhost:8080:8080", "127.0.0.2:8080", "127.0.0.1.evil:8080",
                           "evil:8080", "::1:8080", "localhost.:8080", "localhost:8080 "}) {
    CAPTURE(host);
    CHECK_FALSE(is_local_host(host, 8080));
  }
}

TEST_CASE("port 80 is not told") {
  CHECK(is_local_host("localhost", 80));
  CHECK(is_local_host("localhost:80", 80));
  CHECK(is_local_origin("http://localhost", 80));
}

TEST_CASE("an origin is the scheme and a host") {
  CHECK(is_local_origin("http://127.0.0.1:8080", 8080));
  CHECK(is_local_origin("HTTP://localhost:8080", 8080));
  for (const char* origin : {"", "null", "http://", "127.0.0.1:8080", "https://127.0.0.1:8080",
                             "http://127.0.0.1:8081", "http://127.0.0.1:8080/"}) {
    CAPTURE(origin);
    CHECK_FALSE(is_local_origin(origin, 8080));
  }
}
