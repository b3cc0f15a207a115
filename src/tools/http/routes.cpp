#include "tools/http/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string_view>

#include "penstock/core/base/deadline.h"

namespace penstock::http {
namespace {

constexpr std::string_view kId = "{id}";

/// The part of a path that stands for {id} in a route's, or none when the path is not the route's.
/// Empty for routes without it.
std::optional<std::string_view> match(std::string_view route, std::string_view path) {
  const std::size_t at = route.find(kId);
  if (at == std::string_view::npos) {
    return route == path ? std::optional(std::string_view()) : std::nullopt;
  }
  const std::string_view tail = route.substr(at + kId.size());
  if (!path.starts_with(route.substr(0, at)) || path.size() <= at + tail.size() ||
      !path.ends_with(tail)) {
    return {};
  }
  const std::string_view id = path.substr(at, path.size() - at - tail.size());
  return id.find('/') == std::string_view::npos ? std::optional(id) : std::nullopt;
}

}  // namespace

const Route* Routes::find(const Request& request) const {
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  const auto found = std::find_if(routes_.begin(), routes_.end(), [&](const Route& route) {
    return route.method == method && match(route.path, request.path);
  });
  return found == routes_.end() ? nullptr : &*found;
}

Response Routes::explain_missing(const Request& request) const {
  std::string methods;
  std::string all;
  for (const Route& route : routes_) {
    all += fmt::format("{}{} {}", all.empty() ? "" : ", ", route.method, route.path);
    if (match(route.path, request.path)) {
      methods += (methods.empty() ? "" : ", ") + route.method;
    }
  }
  if (methods.empty()) { return error_response(404, "no such path; there are " + all); }
  Response response = error_response(405, "this path takes " + methods);
  response.headers.emplace_back("Allow", methods);
  return response;
}

Response answer(const Route& route, Request request) {
  try {
    request.id = match(route.path, request.path).value_or("");
    return route.handler(request);
  } catch (const TooLate& late) {
    return busy_response(late.what());
  } catch (const std::exception& error) { return error_response(500, error.what()); } catch (...) {
    return error_response(500, "the handler failed");
  }
}

}  // namespace penstock::http
