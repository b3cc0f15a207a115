#include "penstock/domains/booking/offer/server.h"

#include <cstdio>
#include <cstdlib>

#include "penstock/core/base/errors.h"
#include "penstock/tools/http/server.h"

namespace penstock::booking {
namespace {

http::Response health(const http::Request& /*request*/) {
  return {.body = "ok\n", .content_type = "text/plain"};
}

}  // namespace

void serve_offers(int port, double deadline_s,
                  const std::function<std::string(const std::string&)>& answer,
                  const std::function<void(int)>& ready) {
  http::Server server({.num_workers = kOfferWorkers, .work_s = deadline_s});
  server.answer_at_once("GET", "/health", health);
  server.answer_by_worker("POST", "/offer", [&](const http::Request& request) -> http::Response {
    try {
      return {.body = answer(request.body) + "\n"};
    } catch (const Error& error) { return http::error_response(400, error.what()); }
  });
  ready(server.listen(port));
  if (server.run_until_signal()) { return; }
  // A search is still at work that cannot be interrupted, and would be waited for.
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(Exit::ok));
}

}  // namespace penstock::booking
