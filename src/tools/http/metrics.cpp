#include "tools/http/metrics.h"

#include <fmt/format.h>

#include <iterator>

namespace penstock::http {
namespace {

template <class Value>
void put_one(std::string& text, const char* name, const char* type, const char* help, Value value) {
  fmt::format_to(std::back_inserter(text),
                 "# HELP penstock_http_{0} {2}\n# TYPE penstock_http_{0} {1}\n"
                 "penstock_http_{0} {3}\n",
                 name, type, help, value);
}

void put_head(std::string& text, const char* name, const char* type, const char* help) {
  fmt::format_to(std::back_inserter(text),
                 "# HELP penstock_http_{0} {2}\n# TYPE penstock_http_{0} {1}\n", name, type, help);
}

}  // namespace

void Metrics::count(const std::string& path, int status) { ++answers_[{path, status}]; }

void Metrics::count(const std::string& path, int status, double seconds) {
  count(path, status);
  Latency& latency = latency_[path];
  for (std::size_t i = 0; i < kBounds.size(); ++i) { latency.below[i] += seconds <= kBounds[i]; }
  ++latency.count;
  latency.seconds += seconds;
}

std::string Metrics::text(const Gauges& now) const {
  std::string text;
  const auto put = [&]<class... Values>(fmt::format_string<Values...> line, Values&&... values) {
    fmt::format_to(std::back_inserter(text), line, std::forward<Values>(values)...);
  };
  put_head(text, "requests_total", "counter", "Requests answered or refused.");
  for (const auto& [key, number] : answers_) {
    put("penstock_http_requests_total{{path=\"{}\",status=\"{}\"}} {}\n", key.first, key.second,
        number);
  }
  put_head(text, "request_seconds", "histogram", "From the last byte received to the last sent.");
  for (const auto& [path, latency] : latency_) {
    for (std::size_t i = 0; i < kBounds.size(); ++i) {
      put("penstock_http_request_seconds_bucket{{path=\"{}\",le=\"{}\"}} {}\n", path, kBounds[i],
          latency.below[i]);
    }
    put("penstock_http_request_seconds_bucket{{path=\"{}\",le=\"+Inf\"}} {}\n", path,
        latency.count);
    put("penstock_http_request_seconds_sum{{path=\"{}\"}} {}\n", path, latency.seconds);
    put("penstock_http_request_seconds_count{{path=\"{}\"}} {}\n", path, latency.count);
  }
  put_one(text, "connections_open", "gauge", "Connections open now.", now.open);
  put_one(text, "connections_total", "counter", "Connections accepted.", accepted);
  put_one(text, "connections_evicted_total", "counter", "Closed to make room.", evicted);
  put_one(text, "requests_waiting", "gauge", "Requests that wait for a worker.", now.waiting);
  put_one(text, "requests_running", "gauge", "Requests on a worker.", now.running);
  put_one(text, "held_bytes", "gauge", "Bodies and answers in memory.", now.held_bytes);
  put_one(text, "received_bytes_total", "counter", "Bytes received.", received_bytes);
  put_one(text, "sent_bytes_total", "counter", "Bytes sent.", sent_bytes);
  put_one(text, "uptime_seconds", "gauge", "Seconds since the start.", up_.seconds());
  return text;
}

}  // namespace penstock::http
