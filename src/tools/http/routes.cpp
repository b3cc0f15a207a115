#include "tools/http/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace penstock::http {

const Route* Routes::find(const Request& request) const {
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  const auto found = std::find_if(routes_.begin(), routes_.end(), [&](const Route& route) {
    return route.path == request.path && route.method == method;
  });
  return found == routes_.end() ? nullptr : &*found;
}

Response Routes::explain_missing(const Request& request) const {
  std::string methods;
  std::string all;
  for (const Route& route : routes_) {
    all += fmt::format("{}{} {}", all.empty() ? "" : ", ", route.method, route.path);
    if (route.path == request.path) { methods += (methods.empty() ? "" : ", ") + route.method; }
  }
  if (methods.empty()) { return error_response(404, "no such path; there are " + all); }
  Response response = error_response(405, "this path takes " + methods);
  response.headers.emplace_back("Allow", methods);
  return response;
}

Response answer(const Route& route, const Request& request) {
  try {
    return route.handler(request);
  } catch (const std::exception& error) { return error_response(500, error.what()); } catch (...) {
    return error_response(500, "the handler failed");
  }
}

}  // namespace penstock::http
