#include <fmt/format.h>

#include <cmath>
#include <map>

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

OrderedJson named(const WorkflowResult& result) {
  OrderedJson json = {{"index", search::index_of(result.order)},
                      {"order", order_json(result.order)}};
  json.update(detail::result_json(result));
  json.erase("curve");
  return json;
}

OrderedJson trials_json(const std::vector<Trial>& trials) {
  OrderedJson list = OrderedJson::array();
  for (const Trial& trial : trials) {
    OrderedJson json = {{"batch", trial.batch}};
    json.update(named(trial.result));
    list.push_back(json);
  }
  return list;
}

OrderedJson interval_json(const Interval& interval) {
  return {{"mean", interval.mean}, {"low", interval.low}, {"high", interval.high}};
}

OrderedJson options_json(const SearchOptions& options) {
  OrderedJson json = detail::shared_json(options.job, options.evaluator);
  json["n_workflows"] = options.num_workflows;
  json["initial"] = options.num_initial;
  json["batch"] = options.batch;
  json["beta"] = options.beta ? OrderedJson(*options.beta) : OrderedJson("auto");
  json["delta"] = options.delta;
  json["fit_noise"] = options.fit_noise;
  json["only_compliant"] = options.only_compliant;
  json["learn_compliance"] = options.learn_compliance;
  json["seed"] = options.seed;
  return json;
}

OrderedJson belief_json(const Belief& belief) {
  return {{"lambda", belief.hyper.lambda},
          {"signal_variance", belief.hyper.signal_variance},
          {"noise_variance", belief.hyper.noise_variance},
          {"log_marginal", belief.log_marginal},
          {"num_observations", belief.num_observations},
          {"mean", belief.posterior.mean},
          {"std", belief.posterior.std}};
}

OrderedJson ranking_json(const SearchResult& result) {
  OrderedJson ranking = OrderedJson::array();
  for (const int place : result.ranking) { ranking.push_back(result.trials[place].index); }
  return ranking;
}

OrderedJson games_json(const SearchOptions& options, const SearchResult& result) {
  const TypeSet at_risk = types_at_risk(options.job);
  OrderedJson rows = OrderedJson::array();
  for (const GameRow& row : games_of(result.trials, at_risk)) {
    rows.push_back({{"order", order_json(row.order)},
                    {"orders_tried", row.num_orders},
                    {"compliant", row.num_compliant},
                    {"mean_return", row.mean},
                    {"least", row.least},
                    {"most", row.most}});
  }
  return {{"of_120_orders", num_games(at_risk)}, {"tried", rows}};
}

std::optional<OrderedJson> best_random(const SearchOptions& options, const SearchResult& result) {
  const WorkflowResult* best = nullptr;
  for (const Trial& trial : result.baselines->random) {
    if (!usable(options, trial.result)) { continue; }
    if (best == nullptr || trial.result.mean_return > best->mean_return) { best = &trial.result; }
  }
  if (best == nullptr) { return {}; }
  return named(*best);
}

OrderedJson baselines_json(const SearchOptions& options, const SearchResult& result, bool whole) {
  OrderedJson fixed = OrderedJson::array();
  for (const WorkflowResult& each : result.baselines->fixed) { fixed.push_back(named(each)); }
  OrderedJson json = {{"unconditioned", named(result.baselines->unconditioned)}, {"fixed", fixed}};
  json["unconditioned"].erase("index");
  json["unconditioned"].erase("order");
  json["random_best"] = best_random(options, result).value_or(OrderedJson());
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
  json["best"] = truth.best < 0 ? OrderedJson() : named(truth.all[truth.best]);
  json["regret"] = truth.regret ? regret_json(*truth.regret) : OrderedJson();
  if (!whole) { return json; }
  json["all"] = OrderedJson::array();
  for (const WorkflowResult& each : truth.all) { json["all"].push_back(named(each)); }
  return json;
}

// Not finite is an empty cell.
std::string cell(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string measured_cells(const WorkflowResult* r) {
  if (r == nullptr) { return ",,,,,,,,,,"; }
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{}", cell(r->mean_return), cell(r->std_error),
                     cell(r->compliance), r->compliant ? 1 : 0, r->stopped_early ? 1 : 0,
                     r->episodes, r->steps, r->digest, cell(r->fixes), cell(r->lost_compliance),
                     cell(r->worth));
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
      {"options", options_json(options)},
      {"best", result.best ? named(result.trials[*result.best].result) : OrderedJson()},
      {"ranking", ranking_json(result)},
      {"games", games_json(options, result)},
      {"trials", trials_json(result.trials)},
      {"belief", belief_json(result.belief)}};
  if (result.baselines) { json["baselines"] = baselines_json(options, result, true); }
  if (result.truth) { json["exhaustive"] = truth_json(*result.truth, true); }
  return to_text(json, 1) + "\n";
}

std::string summary_json(const SearchOptions& options, const SearchResult& result) {
  int compliant = 0;
  for (const Trial& trial : result.trials) { compliant += trial.result.compliant ? 1 : 0; }
  OrderedJson json = {
      {"best", result.best ? named(result.trials[*result.best].result) : OrderedJson()},
      {"evaluations", result.trials.size()},
      {"compliant", compliant},
      {"ranking", ranking_json(result)},
      {"games", games_json(options, result)},
      {"lambda", result.belief.hyper.lambda},
      {"signal_variance", result.belief.hyper.signal_variance},
      {"out", options.out}};
  if (result.baselines) { json["baselines"] = baselines_json(options, result, false); }
  if (result.truth) { json["exhaustive"] = truth_json(*result.truth, false); }
  return to_text(json);
}

std::string orders_csv(const SearchOptions& options, const SearchResult& result) {
  std::map<int, const Trial*> measured;
  for (const Trial& trial : result.trials) { measured[trial.index] = &trial; }
  std::string csv =
      "rank,index,order,belief_mean,belief_std,counted,mean_return,std_error,compliance,compliant,"
      "stopped_early,episodes,steps,digest,fixes,lost_compliance,worth,exhaustive_mean_return,"
      "exhaustive_std_error,"
      "exhaustive_compliance\n";
  int rank = 0;
  for (const int index : search::ranked(result.belief.posterior.mean)) {
    const auto found = measured.find(index);
    const WorkflowResult* mine = found == measured.end() ? nullptr : &found->second->result;
    csv +=
        fmt::format("{},{},{},{},{},{},{}", ++rank, index, order_text(search::all_orders()[index]),
                    result.belief.posterior.mean[index], result.belief.posterior.std[index],
                    mine != nullptr && usable(options, *mine) ? 1 : 0, measured_cells(mine));
    if (result.truth) {
      const WorkflowResult& truth = result.truth->all[index];
      csv += fmt::format(",{},{},{}\n", cell(truth.mean_return), cell(truth.std_error),
                         cell(truth.compliance));
    } else {
      csv += ",,,\n";
    }
  }
  return csv;
}

std::string curves_csv(const SearchResult& result) {
  std::string csv = "run,index,steps,reward,compliance\n";
  for (const Trial& trial : result.trials) { add_curve(csv, "search", trial.result); }
  if (result.baselines) {
    for (const Trial& trial : result.baselines->random) { add_curve(csv, "random", trial.result); }
    for (const WorkflowResult& each : result.baselines->fixed) { add_curve(csv, "fixed", each); }
    add_curve(csv, "unconditioned", result.baselines->unconditioned);
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
