#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "domains/cage2/cli/verbs.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/note.h"
#include "penstock/domains/cage2/search/games.h"
#include "penstock/domains/cage2/search/order.h"
#include "penstock/domains/cage2/sim/keys.h"
#include "penstock/domains/cage2/workflow/orders.h"

namespace penstock::cage2 {
namespace {

struct OrdersArgs {
  RunChoice run;
  std::vector<std::string> reds;  // empty: both attackers
  std::int64_t episodes = 100;
  std::uint64_t seed = 1;
  double threshold = 0.95;
  bool json = false;
};

/// A row of the table: the policy as it acts in training, and by its most likely actions.
struct OrderRow {
  std::string red;
  Order order{};
  OrderScore sampled;
  OrderScore greedy;
};

bool is_kept(const OrderScore& score, double threshold) {
  return score.compliance >= threshold && score.lost_compliance >= threshold;
}

bool is_kept(const OrderRow& row, double threshold) {
  return is_kept(row.sampled, threshold) && is_kept(row.greedy, threshold);
}

/// One order of each game of the run's env against an attacker.
std::set<Order> orders_against(const TrainedRun& run, const std::string& red) {
  auto config = config_from<WorkflowEnv::Config>(run.settings);
  config.red = red;
  const TypeSet at_risk = types_at_risk(config, config.compliance_rule == "A");
  std::set<Order> orders;
  for (const Order& order : search::all_orders()) { orders.insert(canonical(order, at_risk)); }
  return orders;
}

std::vector<OrderRow> play_all_orders(const OrdersArgs& args, const Catalog& catalog) {
  const TrainedRun run = open_run(args.run, catalog, print_note);
  const std::vector<std::string> both = {"bline", "meander"};
  std::vector<OrderRow> rows;
  for (const std::string& red : args.reds.empty() ? both : args.reds) {
    for (const Order& order : orders_against(run, red)) {
      OrderGames games{red, order, args.episodes, args.seed, true};
      OrderRow row{red, order, play_order(run, catalog, games), {}};
      games.sampled = false;
      row.greedy = play_order(run, catalog, games);
      rows.push_back(row);
    }
  }
  return rows;
}

OrderedJson score_json(const OrderScore& score) {
  return {{"compliance", score.compliance}, {"lost_compliance", score.lost_compliance},
          {"fixes", score.fixes},           {"mean_return", score.mean_return},
          {"std_error", score.std_error},   {"worth", score.worth}};
}

void print_json(const OrdersArgs& args, const std::vector<OrderRow>& rows, std::int64_t kept) {
  OrderedJson list = OrderedJson::array();
  for (const OrderRow& row : rows) {
    list.push_back({{"red", row.red},
                    {"order", order_name(row.order)},
                    {"kept", is_kept(row, args.threshold)},
                    {"sampled", score_json(row.sampled)},
                    {"greedy", score_json(row.greedy)}});
  }
  const OrderedJson line = {{"run_dir", args.run.dir},
                            {"episodes", args.episodes},
                            {"seed", args.seed},
                            {"threshold", args.threshold},
                            {"kept", kept},
                            {"of", rows.size()},
                            {"orders", list}};
  fmt::print("{}\n", to_text(line));
}

std::string cells_of(const OrderScore& score) {
  constexpr int kPercent = 100;
  return fmt::format("{:6.1f} {:6.1f} {:8.2f} ± {:<5.2f}", kPercent * score.compliance,
                     kPercent * score.lost_compliance, score.mean_return, score.std_error);
}

void print_text(const OrdersArgs& args, const std::vector<OrderRow>& rows, std::int64_t kept) {
  fmt::print("{:60} sampled: % of fixes, of lost hosts, return    greedy\n", "");
  for (const OrderRow& row : rows) {
    fmt::print("{:8}{:50} {}   {}{}\n", row.red, order_name(row.order), cells_of(row.sampled),
               cells_of(row.greedy), is_kept(row, args.threshold) ? "" : "  not kept");
  }
  fmt::print(
      "{} of {} kept: at least {:g} % of fixes, and of those of lost hosts, comply, sampled and "
      "greedy\n",
      kept, rows.size(), 100 * args.threshold);
}

Exit orders(const OrdersArgs& args, const Catalog& catalog) {
  const std::vector<OrderRow> rows = play_all_orders(args, catalog);
  const auto kept = std::ranges::count_if(
      rows, [&](const OrderRow& row) { return is_kept(row, args.threshold); });
  if (args.json) {
    print_json(args, rows, kept);
  } else {
    print_text(args, rows, kept);
  }
  return Exit::ok;
}

}  // namespace

Verb orders_verb(Options& app, const Catalog& catalog) {
  auto args = std::make_shared<OrdersArgs>();
  Options& verb =
      app.add_command("orders", "play a policy of cage2_workflow by one order of each game");
  verb.add("run_dir", args->run.dir, "the run directory").required();
  verb.add_repeated("--red", args->reds, "the attacker (default: bline and meander)");
  verb.add("--episodes", args->episodes, "episodes of each order, sampled and greedy each")
      .within(1, 1'000'000)
      .show_default();
  verb.add("--compliance-threshold", args->threshold, "compliance at which an order is kept")
      .within(0.0, 1.0)
      .show_default();
  verb.add("--seed", args->seed, "seed of the episodes").show_default();
  verb.add("--checkpoint", args->run.checkpoint, "checkpoint to play: latest, best or a step")
      .show_default();
  verb.add_repeated_call(
      "--set", [args](const std::string& text) { args->run.changes.add_assignment(text, "--set"); },
      "change any key of the env: --set env.mask=none (may be repeated)");
  verb.add_call(
      "--threads",
      [args](const std::string& text) { args->run.changes.add("threads", text, "--threads"); },
      "threads; never changes results");
  verb.add_flag("--json", args->json, "one line of JSON on stdout");
  return {&verb, [args, &catalog] { return orders(*args, catalog); }};
}

}  // namespace penstock::cage2
