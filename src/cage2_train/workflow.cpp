// Replaced at the merge by the module that trains.
#include "penstock/cage2_train/workflow.h"

#include "penstock/base/errors.h"

namespace penstock::cage2 {

WorkflowResult train_workflow(const WorkflowJob& /*job*/) {
  throw ConfigError("this build cannot train workflows");
}

}  // namespace penstock::cage2
