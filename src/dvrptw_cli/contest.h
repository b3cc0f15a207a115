#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "penstock/routing/dvrptw.h"
#include "penstock/routing_train/bound.h"
#include "penstock/routing_train/evaluate.h"
#include "penstock/train/domain.h"

namespace penstock::routing {

/// Who is to be compared, and on what.
struct ContestArgs {
  std::string run;                 // empty: no network
  std::string policies;            // with commas between
  std::int64_t days_per_stay = 0;  // 0: as the env says
  std::string reference;
  std::int64_t threads = 0;
  std::vector<std::string> assignments;
  EvaluationOptions options;
};

/// The options that every verb which plays days has.
void add_contest_options(CLI::App& verb, ContestArgs& args);
std::vector<std::string> words_of(const std::string& list);

/// The policies, days and threads that the words ask for. Throws UsageError that names the word.
class Contest {
 public:
  Contest(const ContestArgs& args, const Catalog& catalog);
  ~Contest();

  [[nodiscard]] const DvrptwConfig& config() const { return config_; }
  [[nodiscard]] const Playground& ground() const { return ground_; }
  [[nodiscard]] EvaluationOptions& options() { return options_; }

  Evaluation play();
  /// Of the same days.
  Bound bound();

 private:
  struct Learnt;

  void add_policy(const std::string& name, const ContestArgs& args, const Settings& settings,
                  const Catalog& catalog);

  DvrptwConfig config_;
  Playground ground_;
  EvaluationOptions options_;
  std::unique_ptr<Learnt> learnt_;
  std::vector<NamedPolicy> policies_;
  ThreadPool pool_;
};

}  // namespace penstock::routing
