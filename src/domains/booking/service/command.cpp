#include "penstock/domains/booking/service/command.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "penstock/domains/booking/service/service.h"
#include "penstock/tools/http/server.h"
#include "penstock/tools/page/page.h"

namespace penstock::booking::service {
namespace {

constexpr const char* kOpenApi =
#include "domains/booking/service/openapi.json.inc"
    ;
constexpr const char* kDispatcherBody =
#include "domains/booking/service/page/dispatcher.html.inc"
    ;
constexpr const char* kDispatcherStyle =
#include "domains/booking/service/page/dispatcher.css.inc"
    ;
constexpr const char* kDispatcherScript =
#include "domains/booking/service/page/dispatcher.js.inc"
    ;
constexpr std::size_t kServiceWorkers = 8;  // they wait for the disk

struct ServeArgs {
  ServiceConfig config;
  int port = 0;
  double deadline_s = http::Limits().work_s;
};

/// What a dispatcher sees; it asks the same calls as every other program.
std::string dispatcher_page() {
  return page::begin_page("Plans", kDispatcherStyle) + kDispatcherBody + "<script>\n" +
         kDispatcherScript + "</script>\n" + page::end_page();
}

void add_routes(http::Server& server, Service& service) {
  using http::Request;
  server.answer_at_once("GET", "/health", [](const Request&) -> http::Response {
    return {.body = "ok\n", .content_type = "text/plain"};
  });
  server.answer_at_once("GET", "/v1/openapi.json",
                        [](const Request&) -> http::Response { return {.body = kOpenApi}; });
  server.answer_at_once("GET", "/", [](const Request&) -> http::Response {
    return {.body = dispatcher_page(), .content_type = "text/html; charset=utf-8"};
  });
  server.tell_metrics_of([&] { return service.metrics(); });
  server.answer_by_worker("GET", "/v1/plans", [&](const Request&) { return service.list(); });
  server.answer_by_worker("GET", "/v1/plans/{id}",
                          [&](const Request& request) { return service.show(request.id); });
  server.answer_by_worker("GET", "/v1/answers.csv",
                          [&](const Request&) { return service.answers(); });
  server.answer_by_worker("GET", "/v1/customers/{id}",
                          [&](const Request& request) { return service.customer(request.id); });
  server.answer_by_worker("POST", "/v1/plans/{id}/quote", [&](const Request& request) {
    return service.quote(request.id, request.body);
  });
  for (const std::string verb : {"hold", "commit", "cancel", "move", "decline", "progress"}) {
    server.answer_by_worker("POST", "/v1/plans/{id}/" + verb, [&, verb](const Request& request) {
      return service.change(verb, request.id, request.body);
    });
  }
}

Exit serve(const ServeArgs& args) {
  Service service(args.config);
  http::Server server({.num_workers = kServiceWorkers, .work_s = args.deadline_s});
  add_routes(server, service);
  fmt::print("http://127.0.0.1:{}\n", server.listen(args.port));
  std::fflush(stdout);
  if (server.run_until_signal()) { return Exit::ok; }
  // A call is still at work, which would be waited for; what it has written is whole.
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(Exit::ok));
}

}  // namespace

std::function<Exit()> add_serve_options(Options& verb) {
  auto args = std::make_shared<ServeArgs>();
  verb.add_repeated("--fleet", args->config.fleets,
                    "a depot's vehicles: a file as `plan` takes it, without jobs; its name is the "
                    "depot's. Once for each depot")
      .required();
  verb.add("--store", args->config.store,
           "where bookings are kept: a file, made if it is missing, or postgresql://...")
      .required();
  verb.add("--port", args->port, "the port of 127.0.0.1; 0: any free one").within(0, 65535);
  verb.add("--deadline", args->deadline_s,
           "seconds that a call may take; then it is told 503, and may have been carried out")
      .within(0.001, 1e6);
  verb.add("--tastes", args->config.tastes,
           "what customers like, as `backtest --tastes` writes it; without it nothing is known");
  verb.add("--policy", args->config.policy,
           "a network of the env slots, a file or its folder, that advises which slots to show and "
           "at which fees; needs --tastes, and a \"forecast\" in each fleet");
  verb.add("--improve", args->config.improve,
           "rounds of search for better routes after each change, between calls; 0: none")
      .within(0.0, 1e9);
  verb.add("--clock", args->config.clock, "a file with the milliseconds since 1970, for tests")
      .hide();
  return [args] { return serve(*args); };
}

}  // namespace penstock::booking::service
