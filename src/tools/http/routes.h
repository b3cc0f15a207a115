#pragma once
#include <string>
#include <vector>

#include "penstock/tools/http/server.h"

namespace penstock::http {

struct Route {
  std::string method;
  std::string path;
  Handler handler;
  bool at_once = false;  // on the event thread
};

/// What is answered by which handler.
class Routes {
 public:
  void add(Route route) { routes_.push_back(std::move(route)); }
  /// That of a request's method and path, or none. HEAD is GET.
  [[nodiscard]] const Route* find(const Request& request) const;
  /// For a request without one: 405 with the methods of the path, or 404 with the paths there are.
  [[nodiscard]] Response explain_missing(const Request& request) const;

 private:
  std::vector<Route> routes_;
};

/// The handler's answer; status 500 when it throws.
Response answer(const Route& route, Request request);

}  // namespace penstock::http
