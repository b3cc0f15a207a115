#include "domains/cage2/search/workflow_json.h"

#include <limits>

namespace penstock::cage2::detail {
namespace {

double number_of(const OrderedJson& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

/// Journals of earlier versions lack it.
double later_number(const OrderedJson& json, const char* key) {
  return json.contains(key) ? number_of(json.at(key)) : 0;
}

}  // namespace

OrderedJson shared_json(const SearchOptions& options) {
  const WorkflowJob& job = options.job;
  OrderedJson shared = {{"evaluator", options.evaluator},
                        {"red", job.red},
                        {"rules", job.rules},
                        {"n_envs", job.n_envs},
                        {"train_episodes_per_env", job.train_episodes_per_env},
                        {"compliance_threshold", job.compliance_threshold},
                        {"update_every_steps", job.update_every_steps},
                        {"compliance_rule", std::string(1, job.compliance_rule)},
                        {"eval_episodes", job.eval_episodes}};
  // Not told at their defaults: journals of earlier versions lack them.
  if (job.min_episodes_per_env != WorkflowJob{}.min_episodes_per_env) {
    shared["min_episodes_per_env"] = job.min_episodes_per_env;
  }
  if (!options.settings.empty()) { shared["set"] = options.settings; }
  return shared;
}

OrderedJson key_json(const WorkflowJob& job) {
  return {{"order", job.order}, {"conditioned", job.conditioned}, {"seed", job.seed}};
}

OrderedJson result_json(const WorkflowResult& result) {
  OrderedJson curve = OrderedJson::array();
  for (const CurvePoint& point : result.curve) {
    curve.push_back({point.steps, point.reward, point.compliance});
  }
  return {{"mean_return", result.mean_return},
          {"std_error", result.std_error},
          {"compliance", result.compliance},
          {"eval_compliance", result.eval_compliance},
          {"lost_compliance", result.lost_compliance},
          {"fixes", result.fixes},
          {"worth", result.worth},
          {"compliant", result.compliant},
          {"stopped_early", result.stopped_early},
          {"episodes", result.episodes},
          {"steps", result.steps},
          {"digest", result.digest},
          {"env_compliance", result.env_compliance},
          {"curve", std::move(curve)}};
}

WorkflowResult result_of(const OrderedJson& json) {
  WorkflowResult result{};
  json.at("order").get_to(result.order);
  result.mean_return = number_of(json.at("mean_return"));
  result.std_error = number_of(json.at("std_error"));
  result.compliance = number_of(json.at("compliance"));
  result.eval_compliance = later_number(json, "eval_compliance");
  result.lost_compliance = later_number(json, "lost_compliance");
  result.fixes = later_number(json, "fixes");
  result.worth = later_number(json, "worth");
  json.at("compliant").get_to(result.compliant);
  json.at("stopped_early").get_to(result.stopped_early);
  json.at("episodes").get_to(result.episodes);
  json.at("steps").get_to(result.steps);
  json.at("digest").get_to(result.digest);
  if (json.contains("env_compliance")) { json["env_compliance"].get_to(result.env_compliance); }
  for (const OrderedJson& point : json.at("curve")) {
    result.curve.push_back(
        {point.at(0).get<std::int64_t>(), number_of(point.at(1)), number_of(point.at(2))});
  }
  return result;
}

}  // namespace penstock::cage2::detail
