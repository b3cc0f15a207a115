#include "penstock/domains/booking/demand/command.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/text_file.h"
#include "penstock/core/store/journal.h"
#include "penstock/domains/booking/demand/backtest.h"
#include "penstock/domains/booking/dispatch/files.h"

namespace penstock::booking::demand {
namespace {

struct BacktestArgs {
  std::string log;
  std::string fleet;
  std::string tastes;
  std::string policy;
  bool json = false;
  BacktestConfig config;
  int draws = 20;
};

Exit run_backtest(const BacktestArgs& args) {
  constexpr std::size_t kMostBytes = 256'000'000;
  const std::string fleet_text = read_text(args.fleet, kMostBytes);
  const dispatch::Problem fleet = dispatch::read_problem(fleet_text, args.fleet);
  if (!fleet.tasks.empty() || fleet.dates) {
    throw DataError(fmt::format(
        "{}: has jobs or dates; a fleet serves any day: vehicles with times as \"HH:MM\"",
        args.fleet));
  }
  const auto rows = dispatch::read_bookings(read_text(args.log, kMostBytes), args.log);
  BacktestConfig config = args.config;
  config.draws = args.draws;
  std::optional<selling::Seller> seller;
  std::optional<Trained> trained;
  if (!args.policy.empty()) {
    trained.emplace(Trained{.seller = seller.emplace(args.policy),
                            .forecast = selling::required_forecast(fleet_text, args.fleet)});
  }
  const Backtest told =
      backtest(calls_of(rows, fleet), fleet, config, trained ? &*trained : nullptr);
  if (!args.tastes.empty()) { replace_text(args.tastes, tastes_text(told.tastes)); }
  fmt::print("{}", args.json ? backtest_json(told) : backtest_table(told));
  return Exit::ok;
}

}  // namespace

std::function<Exit()> add_backtest_options(Options& verb) {
  auto args = std::make_shared<BacktestArgs>();
  verb.add("log", args->log, "a CSV of bookings whose rows are the slots that each call was shown")
      .required();
  verb.add("--fleet", args->fleet, "the vehicles, as JSON").required();
  verb.add("--tastes", args->tastes, "write what customers like here, for `serve --tastes`");
  verb.add("--policy", args->policy,
           "judge a network of the env slots too, a file or its folder, as `trained`; the fleet "
           "needs a \"forecast\"");
  verb.add_flag("--json", args->json, "print everything as JSON");
  verb.add("--draws", args->draws, "of answers and worths, for each policy")
      .within(2, 1000)
      .show_default();
  verb.add("--learn", args->config.learn, "the share of days that is only learnt from")
      .within(0.0, 1.0)
      .show_default();
  verb.add("--improve", args->config.improve, "rounds of search for each plan after a day of calls")
      .within(0.0, 1e6)
      .show_default();
  verb.add("--seed", args->config.seed, "of the draws").show_default();
  return [args] { return run_backtest(*args); };
}

}  // namespace penstock::booking::demand
