#include "penstock/tools/http/message.h"

#include <fmt/format.h>

#include <boost/beast/http/status.hpp>
#include <iterator>

#include "penstock/core/base/json_value.h"

namespace penstock::http {

Response error_response(int status, std::string_view why) {
  const Json told = {{"error", why}};
  return {.status = status, .body = to_text(told, -1, BadUtf8::replace) + "\n"};
}

Response busy_response(std::string_view why) {
  Response response = error_response(503, why);
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

std::string head_of(const Response& response, bool keep_alive) {
  namespace beast = boost::beast::http;
  const auto reason = beast::obsolete_reason(beast::int_to_status(response.status));
  std::string head =
      fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: {}\r\n",
                  response.status, std::string_view(reason.data(), reason.size()),
                  response.content_type, response.body.size(), keep_alive ? "keep-alive" : "close");
  for (const auto& [name, value] : response.headers) {
    fmt::format_to(std::back_inserter(head), "{}: {}\r\n", name, value);
  }
  return head + "\r\n";
}

}  // namespace penstock::http
