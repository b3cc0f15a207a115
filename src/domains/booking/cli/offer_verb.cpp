#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <iterator>
#include <memory>

#include "domains/booking/cli/verbs.h"
#include "penstock/domains/booking/neural/neural_oracle.h"
#include "penstock/domains/booking/offer/offer.h"
#include "penstock/domains/booking/offer/server.h"
#include "penstock/domains/booking/routing/parsers.h"

namespace penstock::booking {
namespace {

struct OfferArgs {
  std::string file = "-";
  std::string oracle = "insertion";
  int port = -1;  // not to serve
};

std::string read_query(const std::string& file) {
  if (file != "-") { return read_text(file); }
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

std::string answer(OfferPricer& pricer, const std::string& text, const std::string& name) {
  const OfferQuery query = parse_offer_query(text, name);
  return offers_json(query, pricer.price(query));
}

Exit offer(const OfferArgs& args) {
  OfferPricer pricer(args.oracle == "insertion" ? nullptr : make_any_oracle(args.oracle));
  if (args.port < 0) {
    const std::string name = args.file == "-" ? "stdin" : args.file;
    fmt::print("{}\n", answer(pricer, read_query(args.file), name));
    return Exit::ok;
  }
  serve_offers(
      args.port, [&](const std::string& body) { return answer(pricer, body, "request"); },
      [](int port) {
        fmt::print("http://127.0.0.1:{}/offer\n", port);
        std::fflush(stdout);
      });
  return Exit::ok;
}

}  // namespace

Verb offer_verb(Options& app) {
  auto args = std::make_shared<OfferArgs>();
  Options& verb =
      app.add_command("offer", "price the 16 time slots that could be proposed for a new request");
  const Option file = verb.add("query", args->file, "the plan and the request as JSON; - is stdin");
  verb.add("--oracle", args->oracle, "how routes are planned: insertion, relocate, rr-N or neural");
  verb.add("--serve", args->port, "answer POST /offer on this port of 127.0.0.1; 0: any free one")
      .within(0, 65535)
      .excludes(file);
  return {&verb, [args] { return offer(*args); }};
}

}  // namespace penstock::booking
