#include "penstock/domains/booking/offer/command.h"

#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/core/base/light_verb.h"
#include "penstock/core/base/text_file.h"
#include "penstock/domains/booking/neural/neural_oracle.h"
#include "penstock/domains/booking/offer/offer.h"
#include "penstock/domains/booking/offer/server.h"
#include "penstock/tools/http/server.h"

namespace penstock::booking {
namespace {

struct OfferArgs {
  std::string file = "-";
  std::string oracle = "rr-50";
  int port = -1;  // not to serve
  double deadline_s = http::Limits().work_s;
};

std::string read_query(const std::string& file) {
  constexpr std::size_t kMost = 64'000'000;
  return file == "-" ? read_text(std::cin, "stdin", kMost) : read_text(file, kMost);
}

std::unique_ptr<OfferPricer> make_pricer(const std::string& oracle) {
  return std::make_unique<OfferPricer>(oracle == "insertion" ? nullptr : make_any_oracle(oracle));
}

/// Answers queries, with a pricer for each thread that asks at the same time.
class Answers {
 public:
  explicit Answers(const std::string& oracle) : oracle_(oracle) { put(make_pricer(oracle)); }

  /// Thread-safe. The name is that of the query in errors.
  std::string operator()(const std::string& text, const std::string& name) {
    const OfferQuery query = parse_offer_query(text, name);
    std::unique_ptr<OfferPricer> pricer = take();
    const OfferPrices prices = pricer->price(query);
    put(std::move(pricer));
    return offers_json(query, prices);
  }

 private:
  std::unique_ptr<OfferPricer> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<OfferPricer> pricer = std::move(free_.back());
        free_.pop_back();
        return pricer;
      }
    }
    return make_pricer(oracle_);
  }
  void put(std::unique_ptr<OfferPricer> pricer) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(pricer));
  }

  std::string oracle_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<OfferPricer>> free_;
};

Exit run_offer(const OfferArgs& args) {
  Answers answers(args.oracle);
  if (args.port < 0) {
    const std::string name = args.file == "-" ? "stdin" : args.file;
    fmt::print("{}\n", answers(read_query(args.file), name));
    return Exit::ok;
  }
  serve_offers(
      args.port, args.deadline_s, [&](const std::string& body) { return answers(body, "request"); },
      [](int port) {
        fmt::print("http://127.0.0.1:{}/offer\n", port);
        std::fflush(stdout);
      });
  return Exit::ok;
}

}  // namespace

std::function<Exit()> add_offer_options(Options& verb) {
  auto args = std::make_shared<OfferArgs>();
  const Option file = verb.add("query", args->file, "the plan and the request as JSON; - is stdin");
  verb.add("--oracle", args->oracle,
           "how routes are planned: rr-N, relocate, neural, or insertion, whose routes are not to "
           "be committed");
  verb.add("--serve", args->port, "answer POST /offer on this port of 127.0.0.1; 0: any free one")
      .within(0, 65535)
      .excludes(file);
  verb.add("--deadline", args->deadline_s,
           "seconds that a request of --serve may take; then it is told 503")
      .within(0.001, 1e6);
  return [args] { return run_offer(*args); };
}

int run_offer_command(int argc, const char* const* argv) {
  return run_light_verb(kOfferVerb, "booking", argc, argv);
}

}  // namespace penstock::booking
