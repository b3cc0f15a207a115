#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::http {

/// A request as handlers meet it: complete, within the limits, from this machine's own pages.
struct Request {
  std::string method;  // GET, POST, ...
  std::string path;    // as it came, without the query
  std::string id;      // what stands for {id} in the path of the route
  std::string query;   // what follows the ?
  std::string body;
};

/// An answer. Its length, and whether the connection stays, are told by the server.
struct Response {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers{};  // names and values beyond these
};

/// The answer of every failure: {"error": why}. Text that is not UTF-8 is replaced.
Response error_response(int status, std::string_view why);
/// The same with status 503, which asks to come again in a second.
Response busy_response(std::string_view why);

/// The head of an answer, up to the empty line.
std::string head_of(const Response& response, bool keep_alive);

}  // namespace penstock::http
