#include "tools/http/routes.h"

#include <doctest/doctest.h>

#include <string>

using namespace penstock::http;

namespace {

Routes plans() {
  Routes routes;
  const Handler tell_id = [](const Request& request) -> Response { return {.body = request.id}; };
  for (const char* path : {"/plans", "/plans/{id}", "/plans/{id}/quote"}) {
    routes.add({"GET", path, tell_id, true});
  }
  return routes;
}

std::string route_of(const std::string& path) {
  const Routes routes = plans();
  const Route* found = routes.find({.method = "GET", .path = path});
  return found == nullptr ? "none" : found->path;
}

}  // namespace

TEST_CASE("{id} stands for one part of a path, which is not empty") {
  CHECK(route_of("/plans") == "/plans");
  CHECK(route_of("/plans/a.b-1") == "/plans/{id}");
  CHECK(route_of("/plans/a/quote") == "/plans/{id}/quote");
  CHECK(route_of("/plans/quote") == "/plans/{id}");
  for (const char* other : {"/plans/", "/plans//quote", "/plans/a/b", "/plans/a/b/quote",
                            "/plans/quote/", "/plan", "/plans/a/quotes"}) {
    CAPTURE(other);
    CHECK(route_of(other) == "none");
  }
}

TEST_CASE("handlers are told what stands for {id}") {
  const Routes routes = plans();
  const Request request{.method = "GET", .path = "/plans/north.1/quote"};
  CHECK(answer(*routes.find(request), request).body == "north.1");
  CHECK(answer(*routes.find({.method = "GET", .path = "/plans"}), {.path = "/plans"}).body.empty());
}

TEST_CASE("the methods of a path with {id} are told") {
  CHECK(plans().explain_missing({.method = "PUT", .path = "/plans/x"}).status == 405);
  CHECK(plans().explain_missing({.method = "GET", .path = "/plans/x/y"}).status == 404);
}
