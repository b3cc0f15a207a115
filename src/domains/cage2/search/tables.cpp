#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "domains/cage2/search/gp_ucb.h"
#include "domains/cage2/search/workflow_json.h"
#include "penstock/core/base/json_value.h"
#include "penstock/domains/cage2/search/games.h"
#include "penstock/domains/cage2/search/report.h"

namespace penstock::cage2 {
namespace {

OrderedJson order_json(const Order& order) {
  OrderedJson names = OrderedJson::array();
  for (const int type : order) { names.push_back(kTypeNames.at(type)); }
  return names;
}

/// Of a result without what only a single run has.
OrderedJson named(const WorkflowResult& result) {
  OrderedJson json = {{"index", search::index_of(result.order)},
                      {"order", order_json(result.order)}};
  json.update(detail::result_json(result));
  json.erase("curve");
  json.erase("digest");
  json.erase("env_compliance");
  return json;
}

OrderedJson runs_json(const std::vector<WorkflowResult>& runs) {
  OrderedJson list = OrderedJson::array();
  for (const WorkflowResult& run : runs) {
    list.push_back({{"mean_return", run.mean_return},
                    {"std_error", run.std_error},
                    {"compliance", run.compliance},
                    {"compliant", run.compliant},
                    {"env_compliance", run.env_compliance},
                    {"episodes", run.episodes},
                    {"digest", run.digest}});
  }
  return list;
}

OrderedJson measured_json(const Measured& order) {
  OrderedJson json = named(order.result);
  json["runs"] = runs_json(order.runs);
  return json;
}

OrderedJson trials_json(const std::vector<Trial>& trials) {
  OrderedJson list = OrderedJson::array();
  for (const Trial& trial : trials) {
    OrderedJson json = {{"batch", trial.batch}};
    json.update(measured_json(measured_of({trial}).front()));
    list.push_back(json);
  }
  return list;
}

/// With intervals by what is known of the noise between training seeds.
OrderedJson list_json(const std::vector<Measured>& orders, const Noise& noise) {
  OrderedJson list = OrderedJson::array();
  for (const Measured& order : orders) {
    const WorkflowResult& r = order.result;
    const double half = half_width_99(r, noise);
    OrderedJson json = measured_json(order);
    json["half_width"] = half_width(r, noise);
    json["ci99"] = {r.mean_return - half, r.mean_return + half};
    list.push_back(std::move(json));
  }
  return list;
}

OrderedJson noise_json(const Noise& noise) {
  return {{"variance", noise.freedom > 0 ? OrderedJson(noise.variance) : OrderedJson()},
          {"freedom", noise.freedom}};
}

OrderedJson best_json(const SearchResult& result) {
  if (!result.best) { return {}; }
  return list_json({result.measured[*result.best]}, result.noise).front();
}

OrderedJson interval_json(const Interval& interval) {
  return {{"mean", interval.mean},
          {"low", interval.low},
          {"high", interval.high},
          {"ci99", {interval.low_99, interval.high_99}}};
}

OrderedJson options_json(const SearchOptions& options) {
  OrderedJson json = detail::shared_json(options);
  json["all_orders"] = options.all_orders;
  json["n_workflows"] = options.num_workflows;
  json["seeds"] = options.num_seeds;
  json["initial"] = options.num_initial;
  json["batch"] = options.batch;
  json["beta"] = options.beta ? OrderedJson(*options.beta) : OrderedJson("auto");
  json["delta"] = options.delta;
  json["only_compliant"] = options.only_compliant;
  json["learn_compliance"] = options.learn_compliance;
  json["seed"] = options.seed;
  return json;
}

OrderedJson belief_json(const Belief& belief) {
  return {{"lambda", belief.hyper.lambda},
          {"lambda_at_bound", belief.lambda_at_bound},
          {"signal_variance", belief.hyper.signal_variance},
          {"log_marginal", belief.log_marginal},
          {"num_observations", belief.num_observations},
          {"mean", belief.posterior.mean},
          {"std", belief.posterior.std}};
}

OrderedJson ranking_json(const SearchResult& result) {
  OrderedJson ranking = OrderedJson::array();
  for (const int place : result.ranking) { ranking.push_back(result.measured[place].index); }
  return ranking;
}

OrderedJson games_json(const SearchOptions& options, const SearchResult& result) {
  const TypeSet at_risk = types_at_risk(options);
  OrderedJson rows = OrderedJson::array();
  for (const GameRow& row : games_of(result.measured, at_risk)) {
    rows.push_back({{"order", order_json(row.order)},
                    {"orders_tried", row.num_orders},
                    {"compliant", row.num_compliant},
                    {"mean_return", row.mean},
                    {"least", row.least},
                    {"most", row.most}});
  }
  return {{"of_120_orders", num_games(at_risk)}, {"tried", rows}};
}

OrderedJson best_random(const SearchOptions& options, const SearchResult& result) {
  const std::vector<Measured> orders = measured_of(result.baselines->random);
  const std::optional<int> best = detail::best_of(options, orders);
  return best ? measured_json(orders[*best]) : OrderedJson();
}

OrderedJson baselines_json(const SearchOptions& options, const SearchResult& result, bool whole) {
  OrderedJson json = {
      {"unconditioned", measured_json(result.baselines->unconditioned)},
      {"fixed", list_json(result.baselines->fixed, noise_of(result.baselines->fixed))}};
  json["unconditioned"].erase("index");
  json["unconditioned"].erase("order");
  json["random_best"] = best_random(options, result);
  if (whole) { json["random"] = trials_json(result.baselines->random); }
  return json;
}

OrderedJson regret_json(const Regret& regret) {
  const bool repeated = !regret.search.empty();
  OrderedJson json = {{"own", regret.own.back()}, {"repetitions", regret.search_final.size()}};
  if (!repeated) { return json; }
  json["search"] = interval_json(regret.search.back());
  json["random"] = interval_json(regret.random.back());
  json["gain"] = interval_json(regret.gain);
  json["mean_gain"] = interval_json(regret.mean_gain);
  json["search_final"] = regret.search_final;
  json["random_final"] = regret.random_final;
  return json;
}

OrderedJson truth_json(const GroundTruth& truth, bool whole) {
  OrderedJson json;
  json["best"] = truth.best < 0 ? OrderedJson() : measured_json(truth.all[truth.best]);
  json["rank_of_best"] = truth.rank_of_best > 0 ? OrderedJson(truth.rank_of_best) : OrderedJson();
  json["noise"] = noise_json(noise_of(truth.all));
  json["regret"] = truth.regret ? regret_json(*truth.regret) : OrderedJson();
  if (whole) { json["all"] = list_json(truth.all, noise_of(truth.all)); }
  return json;
}

// Not finite is an empty cell.
std::string cell(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string measured_cells(const Measured* order) {
  if (order == nullptr) { return ",,,,,,,,,,"; }
  const WorkflowResult& r = order->result;
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{}", order->runs.size(), cell(r.mean_return),
                     cell(r.std_error), cell(r.compliance), r.compliant ? 1 : 0,
                     r.stopped_early ? 1 : 0, r.episodes, r.steps, cell(r.fixes),
                     cell(r.lost_compliance), cell(r.worth));
}

void add_curve(std::string& csv, const std::string& run, const WorkflowResult& result) {
  for (const CurvePoint& point : result.curve) {
    csv += fmt::format("{},{},{},{},{}\n", run, search::index_of(result.order), point.steps,
                       cell(point.reward), cell(point.compliance));
  }
}

}  // namespace

std::string search_json(const SearchOptions& options, const SearchResult& result) {
  OrderedJson json = {
      {"options", options_json(options)},     {"best", best_json(result)},
      {"ranking", ranking_json(result)},      {"noise", noise_json(result.noise)},
      {"games", games_json(options, result)}, {"orders", list_json(result.measured, result.noise)},
      {"trials", trials_json(result.trials)}, {"belief", belief_json(result.belief)}};
  if (result.baselines) { json["baselines"] = baselines_json(options, result, true); }
  if (result.truth) { json["exhaustive"] = truth_json(*result.truth, true); }
  return to_text(json, 1) + "\n";
}

std::string summary_json(const SearchOptions& options, const SearchResult& result) {
  const auto compliant = std::ranges::count_if(
      result.measured, [](const Measured& order) { return order.result.compliant; });
  OrderedJson json = {{"best", best_json(result)},
                      {"evaluations", result.trials.size()},
                      {"compliant", compliant},
                      {"ranking", ranking_json(result)},
                      {"noise", noise_json(result.noise)},
                      {"games", games_json(options, result)},
                      {"lambda", result.belief.hyper.lambda},
                      {"signal_variance", result.belief.hyper.signal_variance},
                      {"out", options.out}};
  if (result.baselines) { json["baselines"] = baselines_json(options, result, false); }
  if (result.truth) { json["exhaustive"] = truth_json(*result.truth, false); }
  return to_text(json);
}

std::string orders_csv(const SearchOptions& options, const SearchResult& result) {
  std::map<int, const Measured*> measured;
  std::map<int, const Measured*> truth;
  for (const Measured& order : result.measured) { measured[order.index] = &order; }
  if (result.truth) {
    for (const Measured& order : result.truth->all) { truth[order.index] = &order; }
  }
  const auto in = [](const std::map<int, const Measured*>& orders, int index) -> const Measured* {
    const auto found = orders.find(index);
    return found == orders.end() ? nullptr : found->second;
  };
  std::string csv =
      "rank,index,order,belief_mean,belief_std,counted,runs,mean_return,std_error,compliance,"
      "compliant,stopped_early,episodes,steps,fixes,lost_compliance,worth,exhaustive_mean_return,"
      "exhaustive_std_error,exhaustive_compliance\n";
  int rank = 0;
  for (const int index : search::ranked(result.belief.posterior.mean)) {
    if (std::ranges::find(result.candidates, index) == result.candidates.end()) { continue; }
    const Measured* mine = in(measured, index);
    csv +=
        fmt::format("{},{},{},{},{},{},{}", ++rank, index, order_text(search::all_orders()[index]),
                    result.belief.posterior.mean[index], result.belief.posterior.std[index],
                    mine != nullptr && usable(options, mine->result) ? 1 : 0, measured_cells(mine));
    const Measured* fresh = in(truth, index);
    csv += fresh == nullptr
               ? ",,,\n"
               : fmt::format(",{},{},{}\n", cell(fresh->result.mean_return),
                             cell(fresh->result.std_error), cell(fresh->result.compliance));
  }
  return csv;
}

std::string curves_csv(const SearchResult& result) {
  std::string csv = "run,index,steps,reward,compliance\n";
  const auto add = [&csv](const char* name, const std::vector<WorkflowResult>& runs) {
    for (const WorkflowResult& run : runs) { add_curve(csv, name, run); }
  };
  for (const Trial& trial : result.trials) { add("search", trial.runs); }
  if (result.baselines) {
    for (const Trial& trial : result.baselines->random) { add("random", trial.runs); }
    for (const Measured& each : result.baselines->fixed) { add("fixed", each.runs); }
    add("unconditioned", result.baselines->unconditioned.runs);
  }
  return csv;
}

std::string regret_csv(const SearchResult& result) {
  std::string csv =
      "evaluations,own,search_mean,search_low,search_high,random_mean,random_low,random_high\n";
  if (!result.truth || !result.truth->regret) { return csv; }
  const Regret& regret = *result.truth->regret;
  for (std::size_t t = 0; t < regret.own.size(); ++t) {
    csv += fmt::format("{},{}", t + 1, regret.own[t]);
    if (regret.search.empty()) {
      csv += ",,,,,,\n";
      continue;
    }
    const Interval& s = regret.search[t];
    const Interval& r = regret.random[t];
    csv += fmt::format(",{},{},{},{},{},{}\n", s.mean, s.low, s.high, r.mean, r.low, r.high);
  }
  return csv;
}

}  // namespace penstock::cage2
