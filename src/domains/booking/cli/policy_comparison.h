#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "penstock/core/base/options.h"
#include "penstock/core/train/config.h"
#include "penstock/core/train/domain.h"
#include "penstock/domains/booking/compare/bound.h"
#include "penstock/domains/booking/compare/evaluate.h"
#include "penstock/domains/booking/env/dvrptw.h"

namespace penstock::booking {

/// Who is to be compared, and on what.
struct ComparisonArgs {
  std::string run;                 // empty: no network
  std::string policies;            // with commas between
  std::int64_t days_per_stay = 0;  // 0: as the env says
  std::string reference;
  std::int64_t threads = 0;
  std::vector<std::string> assignments;     // of --set, "env.vehicles=3"
  std::map<std::string, std::string> keys;  // of options that are keys of the env; empty: not given
  EvaluationOptions options;
};

/// The options that every verb which plays days has.
void add_comparison_options(Options& verb, ComparisonArgs& args);
/// Every key of the env is an option too, --customers 60, but for those whose name is an option of
/// the verb's own: to be called after these were added.
void add_key_options(Options& verb, ComparisonArgs& args);
std::vector<std::string> words_of(const std::string& list);

/// The policies, days and threads that the words ask for. Throws UsageError that names the word.
class PolicyComparison {
 public:
  PolicyComparison(const ComparisonArgs& args, const Catalog& catalog);

  [[nodiscard]] const DvrptwConfig& config() const { return config_; }
  [[nodiscard]] const EvaluationSetup& setup() const { return setup_; }
  [[nodiscard]] EvaluationOptions& options() { return options_; }

  Evaluation play();
  /// Of the same days.
  Bound bound();

 private:
  void add_policy(const std::string& name, const ComparisonArgs& args, const Settings& settings,
                  const Catalog& catalog);

  DvrptwConfig config_;
  EvaluationSetup setup_;
  EvaluationOptions options_;
  std::unique_ptr<RunPlan> plan_;  // of the run, whose network a policy may need
  std::vector<NamedPolicy> policies_;
  ThreadPool pool_;
};

}  // namespace penstock::booking
