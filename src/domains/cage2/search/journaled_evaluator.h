#pragma once
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/core/store/journal.h"
#include "penstock/domains/cage2/search/search.h"

namespace penstock::cage2::detail {

/// Evaluates jobs on several threads and remembers them, in the journal too: no job is done twice.
class JournaledEvaluator {
 public:
  /// Throws ConfigError when the journal is one of other evaluations, DataError when it is damaged.
  JournaledEvaluator(const SearchOptions& options, const Evaluate& evaluate);

  /// The results of the jobs, in their order. New ones enter the journal in this order, each as
  /// soon as those before it are done. When evaluations throw, the first one's exception is
  /// rethrown after the others have ended.
  std::vector<WorkflowResult> measure(const std::vector<WorkflowJob>& jobs);

 private:
  struct Round;

  void read();
  void work(Round& round);
  void enter(Round& round);
  void log(const WorkflowJob& job, const WorkflowResult& result);

  const SearchOptions& options_;
  const Evaluate& evaluate_;
  std::optional<Journal> journal_;
  std::map<std::string, WorkflowResult> known_;  // by key_json
};

}  // namespace penstock::cage2::detail
