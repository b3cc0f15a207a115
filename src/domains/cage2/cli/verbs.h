#pragma once

#include "domains/cage2/cli/blue.h"
#include "penstock/core/base/options.h"
#include "penstock/core/train/domain.h"
#include "penstock/domains/cage2/sim/workflow_job.h"

namespace penstock::cage2 {

Verb play_verb(Options& app, const Catalog& catalog);
Verb export_verb(Options& app, const Catalog& catalog);
Verb verify_verb(Options& app, const Catalog& catalog);
Verb record_verb(Options& app, const Catalog& catalog);
/// --blue, --checkpoint and --sampled, into `blue`, which must outlive the verb.
void add_blue_options(Options& verb, BlueChoice& blue);
/// run_dir, --checkpoint and --sampled, into `run`, which must outlive the verb.
void add_run_options(Options& verb, BlueChoice& run);
Verb replay_verb(Options& app);
Verb believe_verb(Options& app);
Verb workflow_verb(Options& app);
Verb search_verb(Options& app);
/// The name of a job's run: "user-op_host-op_server-enterprise-defender-7".
std::string run_name(const WorkflowJob& job);
Verb orders_verb(Options& app, const Catalog& catalog);
Verb leaderboard_verb(Options& app, const Catalog& catalog);

}  // namespace penstock::cage2
