#pragma once
#include <nlohmann/json.hpp>

#include "penstock/domains/cage2/sim/workflow_job.h"

namespace penstock::cage2::detail {

using Json = nlohmann::ordered_json;

/// What is left out of a job's shared part: order, conditioned, seed (told for each evaluation) and
/// threads (no matter).
Json shared_json(const WorkflowJob& job, const std::string& evaluator);
/// What tells evaluations of one journal apart.
Json key_json(const WorkflowJob& job);

/// Without the seconds, which differ from run to run. Not finite is null.
Json result_json(const WorkflowResult& result);
/// Throws nlohmann's errors on anything else than the above.
WorkflowResult result_of(const Json& json);

}  // namespace penstock::cage2::detail
