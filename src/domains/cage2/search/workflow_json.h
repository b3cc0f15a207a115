#pragma once

#include "penstock/core/base/json_value.h"
#include "penstock/domains/cage2/search/search.h"

namespace penstock::cage2::detail {

/// What is left out of a job's shared part: order, conditioned, seed (told for each evaluation) and
/// threads (no matter).
OrderedJson shared_json(const SearchOptions& options);
/// What tells evaluations of one journal apart.
OrderedJson key_json(const WorkflowJob& job);

/// Without the seconds, which differ from run to run. Not finite is null.
OrderedJson result_json(const WorkflowResult& result);
/// Throws nlohmann's errors on anything else than the above.
WorkflowResult result_of(const OrderedJson& json);

}  // namespace penstock::cage2::detail
