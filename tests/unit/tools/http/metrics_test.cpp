#include "tools/http/metrics.h"

#include <doctest/doctest.h>

using namespace penstock::http;

namespace {

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("requests are counted by path and status, their times by path") {
  Metrics metrics;
  metrics.count("/offer", 200, 0.0007);
  metrics.count("/offer", 400, 0.02);
  metrics.count("/offer", 200, 60);
  metrics.count("other", 408);
  const std::string text = metrics.text({});
  CHECK(has_line(text, R"(penstock_http_requests_total{path="/offer",status="200"} 2)"));
  CHECK(has_line(text, R"(penstock_http_requests_total{path="/offer",status="400"} 1)"));
  CHECK(has_line(text, R"(penstock_http_requests_total{path="other",status="408"} 1)"));
  CHECK(has_line(text, R"(penstock_http_request_seconds_bucket{path="/offer",le="0.0005"} 0)"));
  CHECK(has_line(text, R"(penstock_http_request_seconds_bucket{path="/offer",le="0.001"} 1)"));
  CHECK(has_line(text, R"(penstock_http_request_seconds_bucket{path="/offer",le="0.025"} 2)"));
  CHECK(has_line(text, R"(penstock_http_request_seconds_bucket{path="/offer",le="10"} 2)"));
  CHECK(has_line(text, R"(penstock_http_request_seconds_bucket{path="/offer",le="+Inf"} 3)"));
  CHECK(has_line(text, R"(penstock_http_request_seconds_count{path="/offer"} 3)"));
  CHECK(text.find(R"(seconds_sum{path="/offer"} 60.0207)") != std::string::npos);
  CHECK(text.find(R"(seconds_count{path="other"})") == std::string::npos);
}

TEST_CASE("counters and gauges") {
  Metrics metrics;
  metrics.accepted = 7;
  metrics.evicted = 2;
  metrics.received_bytes = 1'000'000'000'000;
  metrics.sent_bytes = 3;
  const std::string text = metrics.text({.open = 5, .waiting = 4, .running = 2, .held_bytes = 99});
  CHECK(has_line(text, "penstock_http_connections_open 5"));
  CHECK(has_line(text, "penstock_http_connections_total 7"));
  CHECK(has_line(text, "penstock_http_connections_evicted_total 2"));
  CHECK(has_line(text, "penstock_http_requests_waiting 4"));
  CHECK(has_line(text, "penstock_http_requests_running 2"));
  CHECK(has_line(text, "penstock_http_held_bytes 99"));
  CHECK(has_line(text, "penstock_http_received_bytes_total 1000000000000"));
  CHECK(has_line(text, "penstock_http_sent_bytes_total 3"));
  CHECK(has_line(text, "# TYPE penstock_http_uptime_seconds gauge"));
}
